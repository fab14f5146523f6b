#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "local/agent/client/client.hpp"
#include "local/agent/client/client_connection.hpp"

namespace sandgate {
namespace {

using agent::ClientConnection;

int option(int socket, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

// The agent is untrusted and could send any descriptor.
bool is_tcp(int socket) {
  const int domain = option(socket, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6) && option(socket, SO_TYPE) == SOCK_STREAM &&
         option(socket, SO_PROTOCOL) == IPPROTO_TCP;
}

// Returns whether the socket is connected. Waits only while the connection is in progress.
Task<bool> is_connected(const Fd& socket) {
  using Watched = asio::posix::stream_descriptor;
  pollfd asked{socket.get(), POLLOUT, 0};
  if (::poll(&asked, 1, 0) == 0) {
    const auto executor = co_await asio::this_coro::executor;
    // Asio closes the descriptor it watches, so it gets a duplicate.
    Watched watched(executor, ::dup(socket.get()));
    co_await watched.async_wait(Watched::wait_write, asio::use_awaitable);
  }
  co_return option(socket.get(), SO_ERROR) == 0;
}

Task<Fd> ask_socket(std::string path, uint16_t port, bool ipv6) {
  Json request{{"port", port}, {"ipv6", ipv6}};
  const auto connection =
      co_await ClientConnection::open(std::move(path), "dial", std::move(request));
  Fd socket = co_await connection->receive_descriptor();
  if (!is_tcp(socket.get())) throw agent::malformed_answer();
  const bool connected = co_await is_connected(socket);
  if (!connected) throw Error(ErrorCode::unavailable, "nothing listens on this port");
  co_return socket;
}

// A program that listens on "localhost" may be bound to 127.0.0.1 or to ::1.
Task<Fd> dial_either(std::string path, uint16_t port) {
  auto first = co_await attempt(ask_socket(path, port, /*ipv6=*/false));
  if (auto* socket = std::get_if<Fd>(&first)) co_return std::move(*socket);
  const Error failure = std::get<Error>(first);
  if (failure.code != ErrorCode::unavailable) throw failure;
  co_return co_await ask_socket(std::move(path), port, /*ipv6=*/true);
}

}  // namespace

Task<Fd> AgentClient::dial(uint16_t port) const { return dial_either(path_, port); }

}  // namespace sandgate
