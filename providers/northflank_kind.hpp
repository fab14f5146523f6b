#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// settings {api_url, team, project, image, registry, plan, isolation, keep_alive_seconds, limits},
// all but project with defaults; credentials {api_token}.
ProviderKind northflank_kind();

}  // namespace sandgate
