#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {workspace} and {api_url, image, region, snapshots, limits} with defaults; credentials
// {api_key}.
ProviderKind blaxel_kind();

}  // namespace sandgate
