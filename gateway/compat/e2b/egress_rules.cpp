#include "gateway/compat/e2b/egress_rules.hpp"

#include "gateway/core/network_rule.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kAllTraffic = "0.0.0.0/0";
constexpr size_t kMaxRules = 256;
constexpr TextRule kHost{1, 255};

using Texts = std::vector<std::string>;

bool is_name(const std::string& host) {
  return host_name_from(host.starts_with("*.") ? host.substr(2) : host).has_value();
}

// E2B opens a name for HTTP on port 80 and TLS on port 443.
Json rules_of(ObjectReader& reader, const Texts& hosts) {
  Json rules = Json::array();
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (!is_name(hosts[i]))
      reader.item_problem("allowOut", i, "must be a host's name: addresses need a port here");
    for (const char* port : {":80", ":443"}) rules.push_back(hosts[i] + port);
  }
  return rules;
}

}  // namespace

bool is_unset(const Json* value) {
  return !value || value->is_null() || (value->is_structured() && value->empty());
}

Json egress_rules_from(ObjectReader& reader, std::optional<bool> internet) {
  const auto allowed = reader.texts("allowOut", kMaxRules, kHost).value_or(Texts());
  const auto denied = reader.texts("denyOut", kMaxRules, kHost).value_or(Texts());
  for (size_t i = 0; i < denied.size(); ++i)
    if (denied[i] != kAllTraffic)
      reader.item_problem("denyOut", i, "can only be 0.0.0.0/0 here, which is all traffic");
  const bool closed = internet == false || !denied.empty();
  if (!closed && !allowed.empty())
    reader.problem("allowOut", "means nothing unless denyOut is 0.0.0.0/0");
  if (!closed) return internet ? Json{{"default", "allow"}} : Json();
  // Without rules, those of the profile would stay open.
  return {{"default", "deny"}, {"allow", rules_of(reader, allowed)}};
}

std::optional<bool> internet_from(const Json& overrides) {
  const Json network = overrides.value("network", Json());
  const Json fallback = network.is_object() ? network.value("default", Json()) : Json();
  return fallback.is_string() ? std::optional(fallback == "allow") : std::nullopt;
}

}  // namespace sandgate::compat::e2b
