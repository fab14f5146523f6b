#pragma once
#include <chrono>

#include "gateway/http/limits.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Time limit of a WebSocket's closing handshake.
constexpr std::chrono::milliseconds kCloseTimeout{2000};

// Accepts the upgrade in `response` and serves it until its close frame: 1000 normally, 1009 after
// an oversized message, 1011 with the error's code if the serve function throws an Error, 1001 if
// it was cancelled. Throws boost::system::system_error if the client is gone before the upgrade.
// Disables cancellation of the calling coroutine once serving has ended.
Task<void> serve_websocket(Transport& transport, const Request& request, Response& response,
                           const Limits& limits);

}  // namespace sandgate::http
