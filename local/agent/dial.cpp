#include "local/agent/dial.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::agent {
namespace {

// Connects to this sandbox's loopback only; callers choose nothing but the port.
int connect_to(int socket, uint16_t port, bool ipv6) {
  if (ipv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    address.sin6_addr = in6addr_loopback;
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

}  // namespace

void answer_dial(const ProcessRequest& request) {
  request.reader.require("port");
  const auto port = request.reader.integer("port", 1, 65535);
  const bool ipv6 = request.reader.boolean("ipv6").value_or(false);
  request.reader.finish();
  request.problems.throw_if_any();
  const Fd socket(
      ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  const int on = 1;
  if (socket) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // The client waits until a connection in progress is established.
  const bool dialled =
      socket &&
      (connect_to(socket.get(), static_cast<uint16_t>(*port), ipv6) == 0 || errno == EINPROGRESS);
  if (!dialled) throw Error(ErrorCode::unavailable, "nothing listens on this port");
  request.connection.reply_with(nlohmann::json::object(), socket);
}

}  // namespace sandgate::agent
