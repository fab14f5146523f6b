#pragma once
#include <optional>
#include <string>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate::compat::e2b {

// POST /sandboxes in our words. What only a profile can decide is kept apart, to be compared.
struct CreateRequest {
  std::string profile;  // a reference; empty when the template is a snapshot
  std::optional<SnapshotId> snapshot;
  Json body = Json::object();  // of POST /v1/sandboxes, without profile and snapshot
  std::optional<bool> auto_pause, auto_resume;
  bool public_ports = true;
};

// Strict: what cannot be honoured is Error(invalid), with its path in the client's body.
CreateRequest create_request_from(const Json& body, int64_t default_timeout);

// Throws Error(invalid) when the profile decides otherwise than the client wants.
void check_honours(const Profile& profile, const CreateRequest& request);

}  // namespace sandgate::compat::e2b
