#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// One allow rule of a network policy, "host:port". The host is a DNS name, whose first label may
// be "*" (exactly one label), or an address or CIDR block: "192.0.2.0/24:443",
// "[2001:db8::/32]:443". Names are ASCII (an internationalised name is written as xn--…) and kept
// in lower case.
struct NetworkRule {
  std::string host;
  uint16_t port = 0;
  bool operator==(const NetworkRule&) const = default;
};

// Empty when the text is not a rule.
std::optional<NetworkRule> network_rule_from(std::string_view text);
std::string to_string(const NetworkRule& rule);
// A DNS name without a wildcard, in lower case; empty when it is not one.
std::optional<std::string> host_name_from(std::string_view text);
// Whether everything `narrow` lets out, `wide` lets out as well.
bool covers(const NetworkRule& wide, const NetworkRule& narrow);

}  // namespace sandgate
