#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {team, project} and, with defaults, {api_url, image, region, snapshot_days, limits};
// credentials {token}.
ProviderKind vercel_kind();

}  // namespace sandgate
