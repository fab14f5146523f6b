#pragma once
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// A TCP connection to an upstream. `allow_private` as in HttpCall. Throws Error(unavailable);
// honours cancellation at once, also while the name is looked up.
Task<asio::ip::tcp::socket> connect_upstream(std::string host, std::string port,
                                             bool allow_private);

}  // namespace sandgate
