#pragma once
#include <memory>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Relays bytes between a connection's client and upstream until both directions have ended or the
// connection is cut. A direction that does not end in order ends by a reset, so that nobody takes a
// part for the whole. After each 256 KiB others have a turn, and all of a tenant's connections
// together have one at a time. Back-pressure: unread bytes
// stay in the sending side's socket.
Task<void> relay(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
