#include "local/egress/policy.hpp"

#include <algorithm>

#include <boost/asio/ip/address.hpp>

#include "gateway/core/error.hpp"
#include "gateway/core/number_text.hpp"

namespace sandgate::egress {
namespace {

std::optional<std::string> host_from_authority(std::string_view text) {
  boost::system::error_code failure;
  if (text.starts_with('[')) {
    if (!text.ends_with(']') || text.find('%') != std::string_view::npos) return std::nullopt;
    const auto v6 =
        boost::asio::ip::make_address_v6(std::string(text.substr(1, text.size() - 2)), failure);
    if (failure) return std::nullopt;
    return "[" + v6.to_string() + "]";
  }
  const auto v4 = boost::asio::ip::make_address_v4(std::string(text), failure);
  return failure ? host_name_from(text) : std::optional(v4.to_string());
}

}  // namespace

bool Target::is_name() const { return host_name_from(host).has_value(); }

std::string to_string(const Target& target) {
  return target.host + ":" + std::to_string(target.port);
}

std::optional<Target> target_from(std::string_view authority,
                                  std::optional<uint16_t> default_port) {
  const size_t colon = authority.rfind(':');
  const size_t bracket = authority.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const auto host = host_from_authority(authority.substr(0, has_port ? colon : authority.size()));
  const auto port = has_port ? port_number_from(authority.substr(colon + 1)) : default_port;
  if (!host || !port) return std::nullopt;
  return Target{*host, *port};
}

Policy::Policy(const NetworkPolicy& network) : all_(network.fallback == NetworkDefault::allow) {
  for (size_t i = 0; i < network.allow.size(); ++i) {
    auto rule = network_rule_from(network.allow[i]);
    if (!rule) throw Error::invalid("/network/allow/" + std::to_string(i), "is not a rule");
    rules_.push_back(std::move(*rule));
  }
}

bool Policy::allows(const Target& target) const {
  const NetworkRule wanted{target.host, target.port};
  return all_ || std::any_of(rules_.begin(), rules_.end(),
                             [&](const NetworkRule& rule) { return covers(rule, wanted); });
}

bool Policy::knows(const std::string& name) const {
  if (!host_name_from(name)) return false;
  return all_ || std::any_of(rules_.begin(), rules_.end(), [&](const NetworkRule& rule) {
           return covers(rule, {name, rule.port});
         });
}

}  // namespace sandgate::egress
