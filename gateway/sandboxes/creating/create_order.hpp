#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "providers/forwarding_path.hpp"
#include "registry/effective_request.hpp"

namespace sandgate {

// The shadow version of a create and its request under that version; empty when it refuses.
struct ShadowOrder {
  int version = 0;
  std::optional<EffectiveRequest> request;
};

// A create request, resolved against its profile and validated.
struct CreateOrder {
  TenantId tenant;
  std::string profile;  // name
  int profile_version = 0;
  int64_t profile_id = 0;
  EffectiveRequest request;
  std::string request_id;  // seed of weighted draws
  // Variables beyond the profile's, from the body or the snapshot; copies inherit them.
  std::map<std::string, std::string> env;
  Json overrides = Json::object();  // the body's overrides; copies inherit them
  std::string scope_key;  // a session's id or scope_key_of(); a second create of it is a conflict
  std::string snapshot_backend_id;  // with request.snapshot: the backend's id of it
  std::string key;  // id of the caller's API key; empty: none
  std::string claim;  // of the request's Idempotency-Key; see mark_effect
  // Set for a copy made by a fork: its number, written before its id (see add_effect). A copy's
  // profile may list secrets that were removed since.
  std::string copy;
  std::optional<ShadowOrder> shadow;
  ForwardingPath passed;  // gateways that forwarded the request
};

}  // namespace sandgate
