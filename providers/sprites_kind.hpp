#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url, runtime, limits}, all with defaults; credentials {token}.
ProviderKind sprites_kind();

}  // namespace sandgate
