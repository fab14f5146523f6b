#pragma once
#include <chrono>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// A listening socket. A port that is taken is tried again for `patience`, because the process
// that had it may just be ending. Throws Error(unavailable) or Error(invalid) that says what to do.
asio::ip::tcp::acceptor bind_listener(asio::io_context& loop, const std::string& address,
                                      uint16_t port, std::chrono::milliseconds patience);

}  // namespace sandgate::http
