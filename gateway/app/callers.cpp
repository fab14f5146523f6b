#include "gateway/app/callers.hpp"

#include "gateway/app/background.hpp"

namespace sandgate {

Callers::Callers(Foundation& below, Registry& registry)
    : foundation(below),
      authenticator(registry.keys, registry.tenant_directory, below.clock, below.config.admin_key,
                    below.notifications),
      admission(registry.tenant_directory),
      idempotency(below.database, {.vault = &below.vault}) {}

void Callers::start() {
  repeat_until_none(foundation.executor(), "idempotency keys", std::chrono::seconds(600),
                    [this] { return idempotency.purge(); });
}

}  // namespace sandgate
