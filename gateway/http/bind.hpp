#pragma once
#include <chrono>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// Opens a listening socket. Retries a port in use for `patience`, because its owner may be shutting
// down; blocks meanwhile. Throws Error(unavailable) or Error(invalid) with advice.
asio::ip::tcp::acceptor bind_listener(asio::io_context& loop, const std::string& address,
                                      uint16_t port, std::chrono::milliseconds patience);

}  // namespace sandgate::http
