#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, team, project, image, registry, plan, isolation, keep_alive_seconds, limits},
// of which only project is required; credentials {api_token}.
ProviderKind northflank_kind();

}  // namespace sandgate
