#pragma once
#include "providers/catalog.hpp"

namespace sandgate {

// Settings {api_url} and, optional, {ca_certificate, namespace, sandboxes, image, home, user,
// runtime_class, isolation, image_pull_secrets, node_selector, network_policies, process_limit,
// autoscaling, region, limits}; credentials {token} or {client_certificate, client_key}.
ProviderKind kubernetes_kind();

}  // namespace sandgate
