#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, blueprint, deny_policy, keep_alive_seconds, limits}, all optional; credentials
// {api_key}.
ProviderKind runloop_kind();

}  // namespace sandgate
