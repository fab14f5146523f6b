#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate {

// A create request after merging: the profile version with the request's restrictions applied (read
// image, env, ttl, resources, network, secrets, placement, isolation and persistence from
// `profile`), and the fields that only a request has.
struct EffectiveRequest {
  Profile profile;
  std::map<std::string, std::string> metadata;  // at most 64, keys 64 bytes, values 512
  std::optional<SnapshotId> snapshot;
  std::string snapshot_deployment;  // where the snapshot is; not set by merge()
};

// Applies the body of POST /v1/sandboxes to a profile. Pure. The body may only restrict the
// profile; anything else, unknown fields included, throws one Error(invalid) that lists all
// problems with their paths:
//  - resources up to max_resources(), ttl_seconds up to max_ttl();
//  - idle_timeout_seconds at most the profile's (0, no timeout, only if the profile has none);
//  - isolation the same or stronger; persistence the same or less;
//  - image: only the profile's own (another image needs another profile);
//  - network: `deny` always, `allow` only where the profile allows all; each rule covered by one
//    of the profile's; rules without a default mean `deny`;
//  - secrets: names among the profile's (given: only these; absent: all);
//  - placement: `only` and `order` within the profile's where set, `exclude` adds, `region` among
//    the profile's, `max_cost_per_hour` at most the profile's;
//  - env adds and replaces, but not variables that hold a secret's placeholder.
// The body's `profile` is not used here; see profile_reference().
EffectiveRequest merge(const Profile& profile, const Json& body);

// The body's `profile` ("python", "python@3", "python@stable"). Throws Error(invalid) without one,
// which names unknown fields as well: `profile` itself may be misspelt.
std::string profile_reference(const Json& body);

}  // namespace sandgate
