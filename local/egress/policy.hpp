#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/network_rule.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::egress {

// The target of a connection: a host name in lower case, or an address in the notation of rules
// ("192.0.2.1", "[2001:db8::1]").
struct Target {
  std::string host;
  uint16_t port = 0;
  bool is_name() const;
  bool operator==(const Target&) const = default;
};

std::string to_string(const Target& target);

// Parses "host:port", or "host" if there is a default port; without user or path. Empty when
// malformed.
std::optional<Target> target_from(std::string_view authority,
                                  std::optional<uint16_t> default_port = std::nullopt);

// The parsed egress rules of a sandbox's profile: which targets it may reach.
class Policy {
 public:
  Policy() = default;  // allows nothing
  explicit Policy(const NetworkPolicy& network);  // throws Error(invalid) for a malformed rule

  bool allows(const Target& target) const;
  // Whether any port of this name is allowed, so that DNS may answer it.
  bool knows(const std::string& name) const;

 private:
  bool all_ = false;
  std::vector<NetworkRule> rules_;
};

}  // namespace sandgate::egress
