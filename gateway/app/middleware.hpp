#pragma once
#include "gateway/app/registry.hpp"
#include "gateway/http/authentication.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/database_idempotency.hpp"
#include "gateway/http/tenant_admission.hpp"

namespace sandgate {

// The checks before a handler runs: authentication, admission, idempotent replay and memory for the
// body.
struct Middleware {
  Middleware(Foundation& foundation, Registry& registry);

  // Starts background work.
  void start();
  // Applies the current limits of the configuration.
  void apply_limits();

  Foundation& foundation;
  http::KeyAuthenticator authenticator;
  http::TenantAdmission admission;
  http::BodyMemoryQuota body_memory;
  http::DatabaseIdempotency idempotency;
};

}  // namespace sandgate
