#include "gateway/placement/deployment_key.hpp"

namespace sandgate {

DeploymentKey DeploymentKey::from(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {.name = std::string(text)};
  return {.name = std::string(text.substr(slash + 1)),
          .tenant = TenantId{std::string(text.substr(0, slash))}};
}

}  // namespace sandgate
