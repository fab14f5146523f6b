#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {runtime, qualifier, api_url, control_url, network, limits}, of which only runtime is
// required; credentials {access_key_id, secret_access_key} and an optional {session_token}.
ProviderKind agentcore_runtime_kind();

}  // namespace sandgate
