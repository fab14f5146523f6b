#include "local/egress/relay.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kRelayTimeout{600};
constexpr size_t kPiece = 256 * 1024;
constexpr std::chrono::milliseconds kFirstLook{10}, kRarestLook{1000};

// Shared by all connections: its content is never needed across a suspension.
std::array<char, kPiece> piece;

// The result of a non-blocking send: how many bytes the socket accepted.
struct SendResult {
  size_t bytes = 0;
  bool broken = false;
};

SendResult send_available(Socket& to, std::string_view bytes) {
  SendResult result;
  while (result.bytes < bytes.size()) {
    const std::string_view rest = bytes.substr(result.bytes);
    const ssize_t sent = send(to.native_handle(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    result.broken = sent < 0 && errno != EAGAIN;
    if (sent < 0) break;
    result.bytes += static_cast<size_t>(sent);
  }
  return result;
}

// Removes bytes from the socket that were peeked at before; with MSG_TRUNC, TCP copies nothing.
bool discard_received(Socket& from, size_t bytes) {
  while (bytes > 0) {
    const ssize_t taken = recv(from.native_handle(), piece.data(), bytes, MSG_TRUNC);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) return false;
    bytes -= static_cast<size_t>(taken);
  }
  return true;
}

// A side that was found reset by sending to it tells those who read from it only that it has ended.
struct Side {
  Socket& socket;
  bool reset = false;

  void reset_on_close(bool resets) {
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::linger(resets, 0), ignored);
  }
};

// At the end of a direction: its receiver is told how it ended. A reset waits until what was sent
// before it has arrived.
Task<void> pass_end(std::shared_ptr<Connection> connection, Socket& to, bool in_order) {
  if (in_order) {
    boost::system::error_code ignored;
    to.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }
  auto pause = kFirstLook;
  for (int left = 0; ioctl(to.native_handle(), SIOCOUTQ, &left) == 0 && left > 0;) {
    co_await sleep_for(pause);
    pause = std::min(pause * 2, kRarestLook);
  }
  connection->close();
}

// What a direction can do after a piece.
enum class Next { piece, read, write, end, nothing };

// Bytes that the receiver does not accept stay in the sender's socket, whose window then closes.
// So stalled connections use none of this process's memory. What is still to be read of a receiver
// that has been reset is for the other direction.
Next pass_piece(Connection& connection, Side& from, Side& to) {
  const ssize_t got = recv(from.socket.native_handle(), piece.data(), piece.size(), MSG_PEEK);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Next::read;
  from.reset = from.reset || got < 0;
  if (got <= 0) return Next::end;
  connection.set_idle_timeout(kRelayTimeout);
  const SendResult result = send_available(to.socket, {piece.data(), static_cast<size_t>(got)});
  if (&from.socket == &connection.client) connection.count_sent(result.bytes);
  to.reset = to.reset || result.broken;
  if (to.reset) return Next::nothing;
  if (!discard_received(from.socket, result.bytes)) {
    connection.close();
    return Next::nothing;
  }
  return result.bytes < static_cast<size_t>(got) ? Next::write : Next::piece;
}

Task<void> relay_direction(std::shared_ptr<Connection> connection, Side& from, Side& to) {
  constexpr auto kWaited = asio::as_tuple(asio::use_awaitable);
  for (;;) {
    co_await connection->wait_for_turn();
    const Next next = pass_piece(*connection, from, to);
    if (next == Next::nothing) co_return;
    if (next == Next::end) break;
    if (next == Next::piece) continue;
    const bool reads = next == Next::read;
    Socket& socket = reads ? from.socket : to.socket;
    const auto readiness = reads ? Socket::wait_read : Socket::wait_write;
    auto [error] = co_await socket.async_wait(readiness, kWaited);
    if (error) co_return connection->close();
  }
  auto passing = pass_end(connection, to.socket, !from.reset);
  co_await std::move(passing);
  to.reset_on_close(false);
}

}  // namespace

Task<void> relay(std::shared_ptr<Connection> connection) {
  using namespace asio::experimental::awaitable_operators;
  boost::system::error_code failure;
  connection->client.native_non_blocking(true, failure);
  if (!failure) connection->upstream.native_non_blocking(true, failure);
  if (failure) co_return;
  connection->set_idle_timeout(kRelayTimeout);
  Side client{connection->client}, upstream{connection->upstream};
  client.reset_on_close(true);
  upstream.reset_on_close(true);
  auto both = relay_direction(connection, client, upstream) &&
              relay_direction(connection, upstream, client);
  co_await std::move(both);
}

}  // namespace sandgate::egress
