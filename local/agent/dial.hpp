#pragma once
#include "local/agent/requests.hpp"

namespace sandgate::agent {

// "dial" {port, ipv6?}: replies {} with a socket attached that is connected, or still connecting,
// to that port of the sandbox's loopback. Throws Error(unavailable) when the connection is refused
// at once; a later failure shows on the socket.
void answer_dial(const ProcessRequest& request);

}  // namespace sandgate::agent
