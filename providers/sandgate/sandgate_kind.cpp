#include "providers/sandgate/sandgate_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/sandgate/sandgate.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

SandgateSettings read_sandgate(const Json& settings, const Json& credentials, Problems& problems) {
  SandgateSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("url");
  result.url = read_base_url(reader, "url");
  reader.require("profile");
  result.profile = reader.text("profile", {1, 200}).value_or("");
  reader.finish();
  result.api_key = read_sole_credential(credentials, "api_key", problems);
  return result;
}

}  // namespace

ProviderKind sandgate_kind() {
  ProviderKind kind = vendor_kind<SandgateProvider>("sandgate", &read_sandgate);
  kind.make = [make = std::move(kind.make)](const ProviderParts& parts,
                                            const ProviderConfig& config) {
    auto provider = make(parts, config);
    provider->descriptor();  // starts the first refresh
    return provider;
  };
  return kind;
}

}  // namespace sandgate
