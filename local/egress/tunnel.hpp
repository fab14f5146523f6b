#pragma once
#include <memory>
#include <string_view>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

inline constexpr uint16_t kHttpPort = 80, kHttpsPort = 443;

// The reason why a request is not carried out, a single word for the log and the program inside.
struct Refusal {
  int status = 0;  // of the HTTP response
  std::string_view reason;  // "": not refused

  explicit operator bool() const { return !reason.empty(); }
};
// Logs a refusal of the connection's target; `way` is tcp, tls, http or connect.
void log_refusal(Connection& connection, std::string_view way, std::string_view reason);
// Connects the upstream to the connection's target, and logs a failure.
Task<Refusal> dial_target(std::shared_ptr<Connection> connection, std::string_view way);

// Connects a connection to its target, which the policy has allowed, and relays until one side
// ends. If the target is a host name, TLS and HTTP must name it, too: on ports 443 and 80 this is
// checked before connecting, on others if the client speaks one of them. On port 443, TLS is
// terminated here for hosts with a granted secret.
Task<void> tunnel(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
