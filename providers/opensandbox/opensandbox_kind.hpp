#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url} and, optional, {sandbox_scheme, use_server_proxy, secure_access, pause_keeps,
// isolation, egress_enforced, process_limit, disk_limit, image, region, limits}; credentials
// {api_key}.
ProviderKind opensandbox_kind();

}  // namespace sandgate
