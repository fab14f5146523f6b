#pragma once
#include <string>

#include "gateway/compat/e2b/access_token.hpp"
#include "gateway/sandboxes/rows/record.hpp"

// Renders sandboxes in E2B's format. Pure.
namespace sandgate::compat::e2b {

// Whether E2B's clients see the sandbox as running rather than paused, if at all.
bool is_running(SandboxState state);
// Whether E2B's clients see the sandbox. They know only running and paused; a sandbox that is being
// created or ended does not exist for them.
bool is_shown(SandboxState state);

// The answer of create and connect. Empty `domain`: ports have no hosts.
Json sandbox_json(const SandboxRecord& record, const AccessTokens& tokens,
                  const std::string& domain);
// The answer of get, without the token, and an item of a list.
Json detail_json(const SandboxRecord& record, const std::string& domain);

// Converts the answer of GET /v1/sandboxes/{id}/metrics.
Json metrics_json(const Json& metrics, const Resources& resources);

}  // namespace sandgate::compat::e2b
