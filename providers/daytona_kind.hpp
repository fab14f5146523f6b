#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url, snapshot, target, process_limit, limits}, all with defaults; credentials
// {api_key}.
ProviderKind daytona_kind();

}  // namespace sandgate
