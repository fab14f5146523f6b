#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// One allow rule of a network policy, "host:port". The host is a DNS name, an address or a CIDR
// block: "192.0.2.0/24:443", "[2001:db8::/32]:443". A name's first label may be "*", which matches
// exactly one label. Names are ASCII (internationalised names as xn--…) and stored in lower case.
struct NetworkRule {
  std::string host;
  uint16_t port = 0;
  bool operator==(const NetworkRule&) const = default;
};

// Returns empty if the text is not a rule.
std::optional<NetworkRule> network_rule_from(std::string_view text);
std::string to_string(const NetworkRule& rule);
// Returns a DNS name without a wildcard in lower case; empty if the text is not one.
std::optional<std::string> host_name_from(std::string_view text);
// Whether `wide` allows everything that `narrow` allows.
bool covers(const NetworkRule& wide, const NetworkRule& narrow);

}  // namespace sandgate
