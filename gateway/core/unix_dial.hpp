#pragma once
#include "gateway/core/async.hpp"

namespace sandgate {

// Connects `socket` to a unix socket's address; waits, two seconds at most, while whoever listens
// there has a full backlog. Returns why it is not connected: try_again when it stayed full.
Task<boost::system::error_code> dial_unix(asio::local::stream_protocol::socket& socket,
                                          asio::local::stream_protocol::endpoint address);

}  // namespace sandgate
