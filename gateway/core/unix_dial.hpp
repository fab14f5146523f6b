#pragma once
#include "gateway/core/async.hpp"

namespace sandgate {

// Connects `socket` to a unix socket. While the listener's backlog is full, retries for about two
// seconds. Returns the error, which is try_again if the backlog stayed full.
Task<boost::system::error_code> dial_unix(asio::local::stream_protocol::socket& socket,
                                          asio::local::stream_protocol::endpoint address);

}  // namespace sandgate
