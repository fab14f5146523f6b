#pragma once
#include <string>

#include "gateway/sandboxes/record.hpp"

// A sandbox as these clients read it. Pure.
namespace sandgate::compat::e2b {

// These clients know no other states than running and paused: what is coming up or going down is
// not there for them.
bool is_shown(SandboxState state);

// The answer of create and connect. `domain` empty: ports have no hosts.
Json sandbox_json(const SandboxRecord& record, const std::string& token, const std::string& domain);
// The answer of get, without a token, and an item of a list.
Json detail_json(const SandboxRecord& record, const std::string& domain);

// Of the document of GET /v1/sandboxes/{id}/metrics.
Json metrics_json(const Json& metrics, const Resources& resources);

}  // namespace sandgate::compat::e2b
