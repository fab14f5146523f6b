#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, snapshot, target, process_limit, limits}, all optional; credentials {api_key}.
ProviderKind daytona_kind();

}  // namespace sandgate
