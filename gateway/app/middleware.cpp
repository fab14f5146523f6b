#include "gateway/app/middleware.hpp"

#include "gateway/app/background.hpp"

namespace sandgate {
namespace {

http::TenantAdmission::Options limits_of(const Foundation& foundation) {
  const Database& database = foundation.database;
  return {.connections = static_cast<size_t>(foundation.config.limits.connections),
          .is_crowded = [&database] {
            return database.in_flight() > database.options().max_waiting / 2;
          }};
}

}  // namespace

Middleware::Middleware(Foundation& below, Registry& registry)
    : foundation(below),
      authenticator(registry.keys, registry.tenant_directory, below.clock, below.config.admin_key,
                    below.notifications),
      admission(registry.tenant_directory, limits_of(below)),
      idempotency(below.database, {.cipher = &below.cipher}) {}

void Middleware::apply_limits() {
  admission.set_connections(static_cast<size_t>(foundation.config.limits.connections));
}

void Middleware::start() {
  repeat_until_none(foundation.executor(), "idempotency keys", std::chrono::seconds(600),
                    [this] { return idempotency.purge(); });
}

}  // namespace sandgate
