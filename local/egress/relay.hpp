#pragma once
#include <memory>

#include "local/egress/box.hpp"

namespace sandgate::egress {

// Carries bytes both ways between a connection's client and upstream until both have ended or it
// is cut. A side that does not read stops the other; what it has yet to read stays in the sockets.
Task<void> relay(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
