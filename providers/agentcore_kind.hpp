#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {region, api_url, interpreter, network, keep_alive_seconds, limits}, all but region with
// defaults; credentials {access_key_id, secret_access_key, session_token}, the last one optional.
ProviderKind agentcore_kind();

}  // namespace sandgate
