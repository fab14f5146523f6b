#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "providers/gateways_passed.hpp"
#include "registry/tighten.hpp"

namespace sandgate {

// The version that shadows a create, and what the create asks for under it: empty when it refuses.
struct ShadowOrder {
  int version = 0;
  std::optional<EffectiveRequest> request;
};

// What a create asks for, resolved and checked.
struct CreateOrder {
  TenantId tenant;
  std::string profile;  // name
  int profile_version = 0;
  int64_t profile_id = 0;
  EffectiveRequest request;
  std::string request_id;  // decides weighted draws
  // What the body gave beyond the profile's, and what its snapshot brought: copies inherit it.
  std::map<std::string, std::string> env;
  Json wishes = Json::object();  // the body's tightenings, which copies of the sandbox inherit
  std::string scope_key;  // a session's id, or see scope_key_of; a second one of it is a conflict
  std::string snapshot_backend_id;  // with request.snapshot: its backend's word for it
  std::string key;  // id of the caller's key, empty when it has none
  std::string claim;  // of the request's run under an Idempotency-Key; see mark_effect
  // Which of the copies of a sandbox that a run makes, written before its id: see add_effect.
  // Secrets that it lists may have been removed since.
  std::string copy;
  std::optional<ShadowOrder> shadow;
  GatewaysPassed passed;  // on its way here
};

}  // namespace sandgate
