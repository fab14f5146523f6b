#pragma once
#include <memory>

#include "local/egress/egress_sandbox.hpp"

namespace sandgate::egress {

// Serve a connection made by a program inside: to the HTTP proxy, which is told its target, or to
// any routed address, where the target follows from the address.
Task<void> serve_proxy(std::shared_ptr<Connection> connection);
Task<void> serve_transparent(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
