#include "local/egress/first_bytes.hpp"

#include <sys/socket.h>

#include "local/egress/http_head.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxPeek = kMaxHelloBytes + 1024;

Task<void> readable(Socket& socket) {
  co_await socket.async_wait(Socket::wait_read, asio::as_tuple(asio::use_awaitable));
}

void wake_at(Socket& socket, size_t bytes) {
  const int low = static_cast<int>(bytes);
  setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
}

std::string peeked(Socket& socket) {
  std::string bytes(kMaxPeek, '\0');
  const ssize_t got =
      recv(socket.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

// Waits for more than `have` bytes and returns all bytes in the socket; no more than `have` when
// the client has closed.
Task<std::string> peek_beyond(Socket& socket, size_t have) {
  wake_at(socket, have + 1);
  auto waiting = readable(socket);
  co_await std::move(waiting);
  wake_at(socket, 1);
  co_return peeked(socket);
}

}  // namespace

Task<HelloResult> peek_hello(Socket& client) {
  HelloResult result;
  for (size_t have = 0; result.state == HelloState::incomplete;) {
    auto peeking = peek_beyond(client, have);
    const std::string bytes = co_await std::move(peeking);
    if (bytes.size() <= have) break;
    have = bytes.size();
    result = parse_client_hello(bytes);
  }
  co_return result;
}

Task<FirstWords> peek_first_words(Socket& client, Socket& upstream) {
  using namespace asio::experimental::awaitable_operators;
  auto race = readable(client) || readable(upstream);
  co_await std::move(race);
  for (std::string bytes = peeked(client); !bytes.empty();) {
    if (bytes[0] == 0x16) co_return FirstWords::tls;
    if (const auto http = looks_like_http(bytes))
      co_return *http ? FirstWords::http : FirstWords::other;
    const size_t have = bytes.size();
    auto peeking = peek_beyond(client, have);
    bytes = co_await std::move(peeking);
    if (bytes.size() <= have) break;
  }
  co_return FirstWords::other;
}

}  // namespace sandgate::egress
