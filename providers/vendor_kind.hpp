#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "providers/catalog.hpp"
#include "providers/shell/live_input_provider.hpp"

namespace sandgate {

// Makes the ProviderKind of an Adapter constructed from Settings, which `read` parses from a
// deployment's settings and credentials. Settings::allow_private is set for the operator's
// deployments, which may reach private addresses.
template <class Adapter, class Settings>
ProviderKind vendor_kind(std::string name,
                         Settings (*read)(const Json& settings, const Json& credentials,
                                          Problems& problems)) {
  return {.name = std::move(name),
          .validate = [read](const Json& settings, const Json& credentials,
                             Problems& problems) { read(settings, credentials, problems); },
          .make = [read](const ProviderParts& parts,
                         const ProviderConfig& config) -> std::shared_ptr<Provider> {
            Problems problems;
            Settings settings = read(config.settings, config.credentials, problems);
            problems.throw_if_any();
            settings.allow_private = !config.tenant_owned;
            auto made = std::make_shared<Adapter>(parts.http, parts.executor, std::move(settings));
            if constexpr (std::is_base_of_v<LiveInputProvider, Adapter>)
              if (config.inputs) made->share_inputs(config.inputs);
            return made;
          }};
}

}  // namespace sandgate
