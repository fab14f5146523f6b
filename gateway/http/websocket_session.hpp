#pragma once
#include <chrono>

#include "gateway/http/limits.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// How long a WebSocket may take to say goodbye.
constexpr std::chrono::milliseconds kFarewell{2000};

// Accepts the upgrade `response` holds and serves it to its end, which is a close frame: 1000, 1011
// and the error's code when the serve function throws an Error, 1001 when it was cancelled. Throws
// boost::system::system_error when the client is gone before the upgrade. Once serving has ended,
// the coroutine ignores cancellation.
Task<void> serve_websocket(Transport& transport, const Request& request, Response& response,
                           const Limits& limits);

}  // namespace sandgate::http
