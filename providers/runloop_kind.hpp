#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url, blueprint, deny_policy, keep_alive_seconds, limits}, all with defaults;
// credentials {api_key}.
ProviderKind runloop_kind();

}  // namespace sandgate
