#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {team, project} and, optional, {api_url, image, region, snapshot_days, limits};
// credentials {token}.
ProviderKind vercel_kind();

}  // namespace sandgate
