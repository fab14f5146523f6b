#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {url, profile}, credentials {api_key}.
ProviderKind sandgate_kind();

}  // namespace sandgate
