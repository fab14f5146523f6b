#include "providers/sandgate_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/sandgate.hpp"

namespace sandgate {
namespace {

SandgateSettings read(const Json& settings, const Json& credentials, Problems& problems) {
  SandgateSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("url");
  result.url = read_base_url(reader, "url");
  reader.require("profile");
  result.profile = reader.text("profile", {1, 200}).value_or("");
  reader.finish();
  ObjectReader keys(credentials, problems, "/credentials");
  result.api_key = read_credential(keys, "api_key");
  keys.finish();
  return result;
}

}  // namespace

ProviderKind sandgate_kind() {
  return {.name = "sandgate",
          .validate = [](const Json& settings, const Json& credentials,
                         Problems& problems) { read(settings, credentials, problems); },
          .make = [](const ProviderParts& parts,
                     const ProviderConfig& config) -> std::shared_ptr<Provider> {
            Problems problems;
            SandgateSettings settings = read(config.settings, config.credentials, problems);
            problems.throw_if_any();
            settings.allow_private = !config.tenant_owned;
            auto provider =
                std::make_shared<SandgateProvider>(parts.http, parts.executor, std::move(settings));
            provider->descriptor();  // starts the first read
            return provider;
          }};
}

}  // namespace sandgate
