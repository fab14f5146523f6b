#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url} and, with defaults, {network, instance_type, limits}; credentials {api_key}.
ProviderKind cloudflare_kind();

}  // namespace sandgate
