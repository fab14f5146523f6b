#pragma once
#include "local/agent/requests.hpp"

namespace sandgate::agent {

// "dial" {port, ipv6?}: replies with a socket that is connected, or connecting, to that port of the
// sandbox's loopback; it travels beside the reply. Throws Error(unavailable) when it is refused at
// once: whether somebody accepts may show later.
void answer_dial(const ProcessRequest& request);

}  // namespace sandgate::agent
