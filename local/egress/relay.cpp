#include "local/egress/relay.hpp"

#include <sys/socket.h>

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kRelayPatience{600};
constexpr size_t kPiece = 256 * 1024;
constexpr int kPiecesInARow = 16;

// Between two waits a piece is read and handed on, so one buffer serves all connections.
std::array<char, kPiece> piece;

// Writes what the socket takes now; the rest is returned. Empty with ok false: broken.
struct Handed {
  std::string rest;
  bool ok = true;
};

Handed hand_on(Socket& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(to.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return {std::string(bytes), errno == EAGAIN};
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return {};
}

Task<bool> hand_on_rest(Socket& to, std::string rest) {
  while (!rest.empty()) {
    auto [error] = co_await to.async_wait(Socket::wait_write, asio::as_tuple(asio::use_awaitable));
    if (error) co_return false;
    Handed handed = hand_on(to, rest);
    if (!handed.ok) co_return false;
    rest = std::move(handed.rest);
  }
  co_return true;
}

Task<void> one_way(std::shared_ptr<Connection> connection, Socket& from, Socket& to) {
  for (int in_a_row = 0;;) {
    const ssize_t got = recv(from.native_handle(), piece.data(), piece.size(), 0);
    if (got == 0) break;
    if (got < 0 && errno != EAGAIN && errno != EINTR) co_return connection->cut();
    if (got < 0) {
      in_a_row = 0;
      auto [error] =
          co_await from.async_wait(Socket::wait_read, asio::as_tuple(asio::use_awaitable));
      if (error) co_return connection->cut();
      continue;
    }
    connection->touch(kRelayPatience);
    if (&from == &connection->client) connection->count_sent(static_cast<size_t>(got));
    Handed handed = hand_on(to, {piece.data(), static_cast<size_t>(got)});
    bool ok = handed.ok;
    if (ok && !handed.rest.empty()) {
      auto handing = hand_on_rest(to, std::move(handed.rest));
      ok = co_await std::move(handing);
      in_a_row = 0;
    }
    if (!ok) co_return connection->cut();
    if (++in_a_row >= kPiecesInARow) {  // others have their turn
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
