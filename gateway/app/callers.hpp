#pragma once
#include "gateway/app/registry.hpp"
#include "gateway/http/authentication.hpp"
#include "gateway/http/body_room.hpp"
#include "gateway/http/database_idempotency.hpp"
#include "gateway/http/tenant_admission.hpp"

namespace sandgate {

// What is asked about every call before its handler runs: whose it is, whether it may come now,
// whether it was answered before, and whether there is room for its body.
struct Callers {
  Callers(Foundation& foundation, Registry& registry);

  // Takes up what runs by itself.
  void start();
  // Counts by the limits of the configuration as they are now.
  void take_limits();

  Foundation& foundation;
  http::KeyAuthenticator authenticator;
  http::TenantAdmission admission;
  http::BodyRoom body_room;
  http::DatabaseIdempotency idempotency;
};

}  // namespace sandgate
