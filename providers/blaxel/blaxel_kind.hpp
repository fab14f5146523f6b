#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {workspace} and, optional, {api_url, image, region, snapshots, limits}; credentials
// {api_key}.
ProviderKind blaxel_kind();

}  // namespace sandgate
