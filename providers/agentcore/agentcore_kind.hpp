#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {region, api_url, interpreter, network, keep_alive_seconds, limits}, of which only
// region is required; credentials {access_key_id, secret_access_key} and an optional
// {session_token}.
ProviderKind agentcore_kind();

}  // namespace sandgate
