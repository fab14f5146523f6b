#pragma once
#include <memory>

#include "local/egress/box.hpp"

namespace sandgate::egress {

// What happens on a connection that a program inside has made: to the proxy, which is told where
// to go, and to any address that is routed to us, which says where by itself.
Task<void> serve_proxy(std::shared_ptr<Connection> connection);
Task<void> serve_any(std::shared_ptr<Connection> connection);

}  // namespace sandgate::egress
