#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Which deployment: a name alone does not say, because tenants' own may be named alike.
struct DeploymentKey {
  std::string name;
  std::optional<TenantId> tenant = std::nullopt;  // owner of a tenant's own; empty: everybody's

  auto operator<=>(const DeploymentKey&) const = default;

  // "name" or "tenant/name", as rows, notifications and the log have it.
  std::string text() const { return tenant ? tenant->value + "/" + name : name; }
  // Reads what text() wrote.
  static DeploymentKey from(std::string_view text);
};

}  // namespace sandgate
