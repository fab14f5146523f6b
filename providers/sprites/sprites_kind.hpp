#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, runtime, limits}, all optional; credentials {token}.
ProviderKind sprites_kind();

}  // namespace sandgate
