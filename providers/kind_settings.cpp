#include "providers/kind_settings.hpp"

#include <boost/url/parse.hpp>

#include "gateway/core/field_text.hpp"
#include "providers/address_rules.hpp"

namespace sandgate {
namespace {

bool is_base_url(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  return url && (url->scheme() == "http" || url->scheme() == "https") && !url->host().empty() &&
         (!url->has_port() || is_port(url->port())) && !url->has_query() && !url->has_fragment() &&
         !url->has_userinfo();
}

}  // namespace

std::string read_base_url(ObjectReader& reader, std::string_view name, std::string fallback) {
  std::string url = reader.text(name, {1, 2048}).value_or(std::move(fallback));
  if (!url.empty() && !is_base_url(url))
    reader.problem(name, "must be an http or https URL without query");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void refuse_private_urls(const Json& settings, Problems& problems) {
  for (const auto& [name, value] : settings.items())
    if (value.is_string() && names_private_address(value.get_ref<const std::string&>()))
      problems.add("/settings/" + pointer_token(name),
                   "only public addresses: private upstreams are the operator's");
}

Secret read_credential(ObjectReader& reader, std::string_view name) {
  reader.require(name);
  const std::string value = reader.text(name, {1, 4096}).value_or("");
  if (!is_visible_ascii(value)) reader.problem(name, "must be visible ASCII");
  return Secret(value);
}

Secret read_sole_credential(const Json& credentials, std::string_view name, Problems& problems) {
  ObjectReader reader(credentials, problems, "/credentials");
  Secret secret = read_credential(reader, name);
  reader.finish();
  return secret;
}

Isolation read_isolation(ObjectReader& reader, Isolation fallback) {
  const auto word = reader.word("isolation", {"container", "kernel", "microvm"});
  return word ? isolation_from(*word).value_or(fallback) : fallback;
}

bool read_network_deny(ObjectReader& reader) {
  const Json* given = reader.any("network");
  // What some kinds called it before, and stored settings still may.
  if (given && (*given == "none" || *given == "public")) return *given == "none";
  return reader.word("network", {"allow", "deny"}) == "deny";
}

DescriptorLimits read_limits(ObjectReader& reader, DescriptorLimits fallback) {
  const Json* object = reader.object("limits");
  if (!object) return fallback;
  ObjectReader limits = reader.within("limits", *object);
  const auto vcpu = limits.quarter_steps("vcpu", 250, 1'000'000);
  const auto memory = limits.integer("memory_mib", 128, 1 << 30);
  const auto disk = limits.integer("disk_gib", 1, 1 << 20);
  const auto ttl = limits.integer("ttl_seconds", 1, INT32_MAX);
  limits.finish();
  return {vcpu.value_or(fallback.max_milli_vcpu), memory.value_or(fallback.max_memory_mib),
          disk.value_or(fallback.max_disk_gib), ttl.value_or(fallback.max_ttl_seconds)};
}

}  // namespace sandgate
