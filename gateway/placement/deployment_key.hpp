#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Identifies a deployment: tenants' own deployments may have equal names.
struct DeploymentKey {
  std::string name;
  std::optional<TenantId> tenant = std::nullopt;  // owner; empty: shared by all

  auto operator<=>(const DeploymentKey&) const = default;

  // "name" or "tenant/name", as used in rows, notifications and logs.
  std::string text() const { return tenant ? tenant->value + "/" + name : name; }
  // Parses the result of text().
  static DeploymentKey from(std::string_view text);
};

}  // namespace sandgate
