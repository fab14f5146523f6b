#pragma once
#include <memory>
#include <string_view>

#include "local/egress/box.hpp"

namespace sandgate::egress {

inline constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;

// Why something is not carried out: one word, which the log and the program inside are told.
struct Refusal {
  int status = 0;  // of the answer
  std::string_view reason;  // "": nothing is refused

  explicit operator bool() const { return !reason.empty(); }
};
// In the log of what the connection's sandbox reached for; `way`: tcp, tls, http or connect.
void note_refusal(Connection& connection, std::string_view way, std::string_view reason);

// What a connection carries to its target, which the policy lets through, and back, until one side
// ends. What was judged is held to: TLS and HTTP must name the target, on ports whose protocol is
// known before anything is dialled; where a secret is granted for a host, TLS ends here.
Task<void> tunnel(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
