#include "local/node/egress/egress_routes.hpp"

#include <optional>

#include "gateway/core/network_rule.hpp"

namespace sandgate {
namespace {

constexpr const char *kSyntheticRange = "198.18.0.0/15", *kAllV4 = "0.0.0.0/0";
constexpr int kV6Bits = 128;

// Empty where a rule is for names, or for the namespace's own loopback, which is not redirected.
std::optional<std::string> block_of_rule(const std::string& text) {
  const auto rule = network_rule_from(text);
  if (!rule || rule->host.starts_with("*.") || host_name_from(rule->host)) return std::nullopt;
  if (rule->host.starts_with("127.") || rule->host.starts_with("[::1]")) return std::nullopt;
  const bool v6 = rule->host.starts_with('[');
  return v6 ? rule->host.substr(1, rule->host.size() - 2) : rule->host;
}

// The number of a block's IPv6 addresses, at most one more than may be routed; 0 for IPv4.
int v6_addresses(const std::string& block) {
  if (block.find(':') == std::string::npos) return 0;
  const size_t slash = block.find('/');
  const int bits = slash == std::string::npos ? 0 : kV6Bits - std::stoi(block.substr(slash + 1));
  for (int addresses = 1, bit = 0;; addresses *= 2, ++bit) {
    if (addresses > kMaxRoutedV6) return kMaxRoutedV6 + 1;
    if (bit == bits) return addresses;
  }
}

}  // namespace

std::set<std::string> egress_routes(const NetworkPolicy& network) {
  if (network.fallback == NetworkDefault::allow) return {kAllV4};
  std::set<std::string> routes{kSyntheticRange};
  int left = kMaxRoutedV6;
  for (const std::string& text : network.allow) {
    const auto block = block_of_rule(text);
    if (!block || routes.contains(*block)) continue;
    const int addresses = v6_addresses(*block);
    if (addresses > left) continue;
    left -= addresses;
    routes.insert(*block);
  }
  return routes;
}

}  // namespace sandgate
