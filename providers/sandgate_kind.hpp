#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {url, profile}, credentials {api_key}.
ProviderKind sandgate_kind();

}  // namespace sandgate
