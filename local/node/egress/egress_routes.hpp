#pragma once
#include <set>
#include <string>

#include "providers/sandbox.hpp"

namespace sandgate {

// So many IPv6 addresses are routed in one sandbox, as many as a policy may have rules: for each
// the kernel keeps half a KiB that counts as nobody's memory (decision 0202).
inline constexpr int kMaxRoutedV6 = 256;

// The blocks, as "address" or "address/length", that a sandbox of this policy routes to the
// listeners: synthetic addresses, which stand for names, the addresses of rules, or all of IPv4. Of
// IPv6 only blocks of rules that together stay within kMaxRoutedV6, in the order of the rules; what
// else the policy allows is reached through the proxy.
std::set<std::string> egress_routes(const NetworkPolicy& network);

}  // namespace sandgate
