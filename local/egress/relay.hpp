#pragma once
#include <memory>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Relays bytes between a connection's client and upstream until both directions have ended or the
// connection is cut. A direction that does not end in order ends by a reset, so that nobody takes a
// part for the whole. Other connections have a turn after each 256 KiB. Back-pressure: unread bytes
// stay in the sending side's socket.
Task<void> relay(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
