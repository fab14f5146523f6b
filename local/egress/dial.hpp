#pragma once
#include <string_view>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Resolves the target and connects the connection's upstream to the first permitted address that
// answers, of four at most and within 16 s after the lookup. The addresses checked are the ones
// connected to, so that DNS cannot change in between. Both sockets then send without delay, and
// take at most about 256 KiB more than they can send. Returns "" on success, else the reason:
// no_answer, no_such_name, private_address, unreachable, ended.
Task<std::string_view> dial(std::shared_ptr<Connection> connection, Target target);

}  // namespace sandgate::egress
