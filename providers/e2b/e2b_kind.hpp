#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, domain, sandbox_url, template, region, isolation, limits}, all optional;
// credentials {api_key}.
ProviderKind e2b_kind();

}  // namespace sandgate
