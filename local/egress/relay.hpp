#pragma once
#include <memory>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Relays bytes between a connection's client and upstream until both directions have ended or the
// connection is cut. Back-pressure: unread bytes stay in the sending side's socket.
Task<void> relay(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
