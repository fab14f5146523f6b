#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/provider.hpp"
#include "providers/transport/http_client.hpp"

namespace sandgate {

// What every adapter may use. Both outlive all providers.
struct ProviderParts {
  HttpClient& http;
  asio::any_io_executor executor;  // runs refreshes in the background
};

class LiveInputs;

// The settings and decrypted credentials of a deployment.
struct ProviderConfig {
  Json settings;
  Json credentials;
  bool tenant_owned = false;  // allows public addresses only
  // Of the deployment, whose Provider is replaced when its settings change; null: of this one.
  std::shared_ptr<LiveInputs> inputs = nullptr;
};

// A kind of backend that is made from a deployment's row. The local provider is not one: it belongs
// to the machine and is made by Backends.
struct ProviderKind {
  std::string name;
  // Adds problems with JSON Pointers under /settings and /credentials.
  std::function<void(const Json& settings, const Json& credentials, Problems& problems)> validate;
  // Makes the provider from a validated row; throws Error(invalid) for an invalid one.
  std::function<std::shared_ptr<Provider>(const ProviderParts& parts, const ProviderConfig& config)>
      make;
};

// All kinds of backend, one line each.
const std::vector<ProviderKind>& provider_kinds();
// Returns null if there is no such kind.
const ProviderKind* find_provider_kind(std::string_view name);

}  // namespace sandgate
