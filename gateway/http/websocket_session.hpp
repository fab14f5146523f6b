#pragma once
#include "gateway/http/limits.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Accepts the upgrade `response` holds and serves it to its end. A serve function that throws an
// Error closes with 1011 and the error's code. Throws boost::system::system_error when the client
// is gone before that.
Task<void> serve_websocket(Transport& transport, const Request& request, Response& response,
                           const Limits& limits);

}  // namespace sandgate::http
