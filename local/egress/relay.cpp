#include "local/egress/relay.hpp"

#include <sys/socket.h>

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kRelayPatience{600};
constexpr size_t kPiece = 256 * 1024;
constexpr int kPiecesInARow = 16;

// Shared by all connections: its content is never needed across a suspension.
std::array<char, kPiece> piece;

// The result of a non-blocking send: how many bytes the socket accepted.
struct Handed {
  size_t bytes = 0;
  bool broken = false;
};

Handed hand_on(Socket& to, std::string_view bytes) {
  Handed handed;
  while (handed.bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(handed.bytes);
    const ssize_t sent = send(to.native_handle(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    handed.broken = sent < 0 && errno != EAGAIN;
    if (sent < 0) break;
    handed.bytes += static_cast<size_t>(sent);
  }
  return handed;
}

// Removes bytes from the socket that were peeked at before; with MSG_TRUNC, TCP copies nothing.
bool take_out(Socket& from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t taken = recv(from.native_handle(), piece.data(), bytes, MSG_TRUNC);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return false;
    bytes -= static_cast<size_t>(taken);
  }
  return true;
}

// Bytes that the receiver does not accept stay in the sender's socket, whose window then closes.
// So stalled connections use none of this process's memory.
Task<void> one_way(std::shared_ptr<Connection> connection, Socket& from, Socket& to) {
  constexpr auto kWaited = asio::as_tuple(asio::use_awaitable);
  for (int in_a_row = 0;;) {
    const ssize_t got = recv(from.native_handle(), piece.data(), piece.size(), MSG_PEEK);
    if (got == 0) break;
    if (got < 0 && errno != EAGAIN && errno != EINTR) co_return connection->cut();
    if (got < 0) {
      in_a_row = 0;
      auto [error] = co_await from.async_wait(Socket::wait_read, kWaited);
      if (error) co_return connection->cut();
      continue;
    }
    connection->touch(kRelayPatience);
    const Handed handed = hand_on(to, {piece.data(), static_cast<size_t>(got)});
    if (&from == &connection->client) connection->count_sent(handed.bytes);
    if (handed.broken || !take_out(from, handed.bytes)) co_return connection->cut();
    if (handed.bytes < static_cast<size_t>(got)) {
      in_a_row = 0;
      auto [error] = co_await to.async_wait(Socket::wait_write, kWaited);
      if (error) co_return connection->cut();
    } else if (++in_a_row >= kPiecesInARow) {  // yield to other connections
      co_await asio::post(asio::use_awaitable);
      in_a_row = 0;
    }
  }
  boost::system::error_code ignored;
  to.shutdown(Socket::shutdown_send, ignored);
}

}  // namespace

Task<void> relay(std::shared_ptr<Connection> connection) {
  using namespace asio::experimental::awaitable_operators;
  boost::system::error_code failure;
  connection->client.native_non_blocking(true, failure);
  if (!failure) connection->upstream.native_non_blocking(true, failure);
  if (failure) co_return;
  connection->touch(kRelayPatience);
  auto both = one_way(connection, connection->client, connection->upstream) &&
              one_way(connection, connection->upstream, connection->client);
  co_await std::move(both);
}

}  // namespace sandgate::egress
