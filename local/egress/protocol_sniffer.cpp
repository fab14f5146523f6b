#include "local/egress/protocol_sniffer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

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

// Waits for `wanted` bytes and returns all bytes in the socket; fewer when the client has closed.
Task<std::string> peek_up_to(Socket& socket, size_t wanted) {
  wake_at(socket, wanted);
  auto waiting = readable(socket);
  co_await std::move(waiting);
  wake_at(socket, 1);
  co_return peeked(socket);
}

// Without it, a wait that brought no more bytes may have been cut short by a lack of memory.
bool has_closed(Socket& socket) {
  pollfd one{socket.native_handle(), POLLRDHUP, 0};
  return poll(&one, 1, 0) > 0;
}

// The end of the TLS record in which `bytes` break off, so that a client that sends it byte by byte
// is not looked at for each.
size_t end_of_record(std::string_view bytes) {
  constexpr size_t kHeader = 5;  // type, version, and the length in two bytes
  size_t end = 0;
  while (end + kHeader <= bytes.size())
    end += kHeader +
           (static_cast<uint8_t>(bytes[end + 3]) << 8 | static_cast<uint8_t>(bytes[end + 4]));
  return std::clamp(end, bytes.size() + 1, std::max(kMaxPeek, bytes.size() + 1));
}

}  // namespace

Task<HelloResult> peek_client_hello(Socket& client) {
  HelloResult result;
  size_t have = 0;
  for (size_t wanted = 1; result.state == HelloState::incomplete;) {
    auto peeking = peek_up_to(client, wanted);
    const std::string bytes = co_await std::move(peeking);
    if (bytes.size() <= have) break;
    have = bytes.size();
    wanted = end_of_record(bytes);
    result = parse_client_hello(bytes);
  }
  co_return result;
}

Task<SniffedProtocol> sniff_protocol(Socket& client, Socket& upstream) {
  using namespace asio::experimental::awaitable_operators;
  auto race = readable(client) || readable(upstream);
  co_await std::move(race);
  for (std::string bytes = peeked(client); !bytes.empty();) {
    if (begins_tls_record(bytes[0])) co_return SniffedProtocol::tls;
    if (const auto http = looks_like_http(bytes))
      co_return *http ? SniffedProtocol::http : SniffedProtocol::other;
    // Whatever may still become a request is for the strict parser to judge.
    const size_t have = bytes.size();
    if (have >= kMaxPeek) co_return SniffedProtocol::http;
    auto peeking = peek_up_to(client, have + 1);
    bytes = co_await std::move(peeking);
    if (bytes.size() <= have)
      co_return has_closed(client) ? SniffedProtocol::other : SniffedProtocol::http;
  }
  co_return SniffedProtocol::other;
}

}  // namespace sandgate::egress
