#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url} and, optional, {network, instance_type, limits}; credentials {api_key}.
ProviderKind cloudflare_kind();

}  // namespace sandgate
