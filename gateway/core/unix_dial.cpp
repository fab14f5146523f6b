#include "gateway/core/unix_dial.hpp"

namespace sandgate {
namespace {

constexpr int kDialAttempts = 400;
constexpr std::chrono::milliseconds kDialPause{5};

// For a full backlog Asio waits as if a connection were in progress, then reports success.
bool is_connected(const asio::local::stream_protocol::socket& socket) {
  boost::system::error_code nobody;
  socket.remote_endpoint(nobody);
  return !nobody;
}

}  // namespace

Task<boost::system::error_code> dial_unix(asio::local::stream_protocol::socket& socket,
                                          asio::local::stream_protocol::endpoint address) {
  boost::system::error_code failure;
  for (int attempt = 0; attempt < kDialAttempts; ++attempt) {
    std::tie(failure) = co_await socket.async_connect(address, asio::as_tuple(asio::use_awaitable));
    if (!failure && !is_connected(socket)) failure = asio::error::try_again;
    if (failure != asio::error::try_again) break;
    socket.close();
    co_await sleep_for(kDialPause);
  }
  co_return failure;
}

}  // namespace sandgate
