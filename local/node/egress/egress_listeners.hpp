#pragma once
#include "gateway/core/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Listening sockets inside a sandbox's network namespace, to be served by a process outside.
struct EgressListeners {
  Fd dns_udp, dns_tcp;  // 127.0.0.1:53
  Fd proxy;  // 127.0.0.1:3128
  Fd transparent;  // accepts TCP connections to every routed address that is not loopback
  Fd sk_lookup;  // of attach_sk_lookup(); directs connections to `transparent` while it is open
};

inline constexpr char kProxyUrl[] = "http://127.0.0.1:3128";

// Opens the sockets in the network namespace of the process `pidfd`, and makes the routes of
// egress_routes() to them. Other addresses have no route. Throws StepError.
EgressListeners open_egress_listeners(int pidfd, const NetworkPolicy& network);

// Changes only the routes, from one policy's to another's: new ones first, so that none of the
// former is gone when one cannot be made. Throws StepError.
void change_egress_routes(int pidfd, const NetworkPolicy& before, const NetworkPolicy& after);

// Tries open_egress_listeners() in a temporary namespace. Returns "" when this machine supports it,
// else the step that failed and why.
std::string try_egress_listeners();

}  // namespace sandgate
