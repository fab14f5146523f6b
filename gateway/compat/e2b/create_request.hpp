#pragma once
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate::compat::e2b {

// A parsed POST /sandboxes. Settings that only a profile can determine are separate members, to be
// compared with the profile by check_profile_allows().
struct CreateRequest {
  std::string profile;  // a reference; empty if the template is a snapshot
  std::optional<SnapshotId> snapshot;
  Json body = Json::object();  // for POST /v1/sandboxes, without profile, snapshot and time
  std::optional<int64_t> timeout;  // seconds to live, if the client asked for some
  std::optional<bool> auto_pause, auto_resume;
  bool public_ports = true;
};

// "base:stable", a client's name of a template, as a reference to a profile: "base@stable".
std::string profile_reference(std::string name);

// Throws Error(invalid), with paths in the client's body, for anything that cannot be honoured.
CreateRequest create_request_from(const Json& body);

// Throws Error(invalid) if the client asks for something else than the profile says.
void check_profile_allows(const Profile& profile, const CreateRequest& request);

}  // namespace sandgate::compat::e2b
