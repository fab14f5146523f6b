#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/http_client.hpp"
#include "providers/provider.hpp"

namespace sandgate {

// What every adapter may use; both outlive every provider.
struct ProviderParts {
  HttpClient& http;
  asio::any_io_executor executor;  // for refreshes in the background
};

// A deployment's row, opened.
struct ProviderConfig {
  Json settings;
  Json credentials;
  bool tenant_owned = false;  // may reach public addresses only
};

// One kind of backend that is made from a deployment's row. The local provider is none: it is part
// of this machine, and Backends makes it.
struct ProviderKind {
  std::string name;
  // Adds what is wrong, with paths under /settings and /credentials.
  std::function<void(const Json& settings, const Json& credentials, Problems& problems)> validate;
  // From a validated row; throws Error(invalid) for any other.
  std::function<std::shared_ptr<Provider>(const ProviderParts& parts, const ProviderConfig& config)>
      make;
};

// THE list: one line per kind.
const std::vector<ProviderKind>& provider_kinds();
// Null when there is no such kind.
const ProviderKind* find_provider_kind(std::string_view name);

}  // namespace sandgate
