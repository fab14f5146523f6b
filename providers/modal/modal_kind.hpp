#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url, app, environment, region, runtime, keep_alive_seconds, process_limit,
// disk_limit, limits}, all optional; credentials {token_id, token_secret}.
ProviderKind modal_kind();

}  // namespace sandgate
