#pragma once
#include "local/namespaces/fd.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// Sockets that listen inside a sandbox's network namespace, for a process outside to serve.
struct EgressDoors {
  Fd dns_udp, dns_tcp;  // 127.0.0.1:53
  Fd proxy;  // 127.0.0.1:3128
  Fd any;  // takes TCP connections to every routed address that is not loopback
  Fd steering;  // keeps `any` fed while it is open
};

inline constexpr char kProxyUrl[] = "http://127.0.0.1:3128";

// Opens the doors in the running namespaces of the process that `pidfd` names, and routes to
// them what the policy can mean: synthetic addresses, blocks that rules name, or everything. The
// rest of the world stays without a route. Throws StepError.
EgressDoors open_egress_doors(int pidfd, const NetworkPolicy& network);

// Only the routes: from one policy to another.
void change_egress_routes(int pidfd, const NetworkPolicy& before, const NetworkPolicy& after);

// The same in a namespace made for the purpose; empty when this machine can do it all, else the
// step that failed and why.
std::string try_egress_doors();

}  // namespace sandgate
