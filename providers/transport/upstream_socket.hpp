#pragma once
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Opens a TCP connection to an upstream. `allow_private` as in HttpCall. Throws Error(unavailable).
// Honours cancellation at once, also during the name lookup.
Task<asio::ip::tcp::socket> connect_upstream(std::string host, std::string port,
                                             bool allow_private);

}  // namespace sandgate
