#pragma once
#include <map>
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate {

// What one create asks for: the profile version with the body's tightenings applied to it (image,
// env, ttl, resources, network, secrets, placement, isolation, persistence all read from
// `profile`), and what only a request has.
struct EffectiveRequest {
  Profile profile;
  std::map<std::string, std::string> metadata;  // at most 64, keys 64 bytes, values 512
  std::optional<SnapshotId> snapshot;
  std::string snapshot_deployment;  // what holds it; merge() does not know
};

// Applies the body of POST /v1/sandboxes to a profile. Pure. The body may only tighten; whatever
// else, unknown fields included, ends in one Error(invalid) that lists all problems with paths:
//  - resources up to most_resources(), ttl_seconds up to most_ttl();
//  - idle_timeout_seconds at most the profile's (0, none, only where the profile has none);
//  - isolation the same or stronger; persistence the same or less;
//  - image: only the profile's own name (another image is another profile);
//  - network: `deny` always, `allow` only where the profile allows all; each rule covered by one
//    of the profile's; rules without a default mean `deny`;
//  - secrets: names among the profile's (given: only these; absent: all);
//  - placement: only and order within the profile's where it has any, exclude adds, region among
//    the profile's, max_cost_per_hour at most the profile's;
//  - env adds and replaces, but never a variable that holds a secret's placeholder.
// `profile` in the body is ignored here; see profile_reference.
EffectiveRequest merge(const Profile& profile, const Json& body);

// The body's `profile` ("python", "python@3", "python@stable"). Throws Error(invalid).
std::string profile_reference(const Json& body);

}  // namespace sandgate
