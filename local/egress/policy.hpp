#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/network_rule.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// Where a connection wants to go: a name in lower case, or an address as a rule writes it
// ("192.0.2.1", "[2001:db8::1]").
struct Target {
  std::string host;
  uint16_t port = 0;
  bool is_name() const;
  bool operator==(const Target&) const = default;
};

std::string to_string(const Target& target);

// "host:port", or "host" where a default port is given; no user, no path. Empty when it is none.
std::optional<Target> target_from(std::string_view authority,
                                  std::optional<uint16_t> default_port = std::nullopt);

// What one sandbox may reach: the rules of its profile, read once.
class Policy {
 public:
  Policy() = default;  // nothing
  explicit Policy(const NetworkPolicy& network);  // throws Error(invalid) for what is no rule

  bool allows(const Target& target) const;
  // Whether any port of this name is allowed, so that the name may be answered at all.
  bool knows(const std::string& name) const;

 private:
  bool all_ = false;
  std::vector<NetworkRule> rules_;
};

}  // namespace sandgate::egress
