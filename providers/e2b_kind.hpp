#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url, domain, sandbox_url, template, region, isolation, limits}, all with defaults;
// credentials {api_key}.
ProviderKind e2b_kind();

}  // namespace sandgate
