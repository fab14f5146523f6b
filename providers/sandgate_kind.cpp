#include "providers/sandgate_kind.hpp"

#include <boost/url/parse.hpp>

#include "providers/sandgate.hpp"

namespace sandgate {
namespace {

bool is_base_url(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  return url && (url->scheme() == "http" || url->scheme() == "https") && !url->host().empty() &&
         !url->has_query() && !url->has_fragment() && !url->has_userinfo();
}

bool is_visible(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

SandgateSettings read(const Json& settings, const Json& credentials, Problems& problems) {
  SandgateSettings result;
  ObjectReader reader(settings, problems, "/settings");
  reader.require("url");
  result.url = reader.text("url", {1, 2048}).value_or("");
  if (!result.url.empty() && !is_base_url(result.url))
    reader.problem("url", "must be an http or https URL without query");
  while (result.url.ends_with('/')) result.url.pop_back();
  reader.require("profile");
  result.profile = reader.text("profile", {1, 200}).value_or("");
  reader.finish();
  ObjectReader keys(credentials, problems, "/credentials");
  keys.require("api_key");
  const std::string key = keys.text("api_key", {1, 500}).value_or("");
  if (!is_visible(key)) keys.problem("api_key", "must be visible ASCII");
  result.api_key = Secret(key);
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
