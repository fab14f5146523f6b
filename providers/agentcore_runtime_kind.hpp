#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {runtime, qualifier, api_url, control_url, network, limits}, all but runtime with
// defaults; credentials {access_key_id, secret_access_key, session_token}, the last one optional.
ProviderKind agentcore_runtime_kind();

}  // namespace sandgate
