// The smallest HTTP server that keeps connections: what a relay is measured with. It answers every
// request with the same body. Linked statically, so that it runs in any sandbox.
// Usage: fixed_server PORT
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

const std::string kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\r\nfixed and short\n";

// Requests have no body and arrive whole: the clients are benchmarks.
void answer(int client) {
  char bytes[16384];
  const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
  if (got <= 0) {
    ::close(client);
    return;
  }
  const std::string_view text(bytes, static_cast<size_t>(got));
  for (size_t at = 0; (at = text.find("\r\n\r\n", at)) != std::string_view::npos; at += 4)
    if (::send(client, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) return;
}

}  // namespace

int main(int argc, char** argv) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), epoll = ::epoll_create1(0), on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 512) != 0)
    return 1;
  epoll_event event{EPOLLIN, {.fd = listener}};
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll, events, 64, -1);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.fd != listener) {
        answer(events[i].data.fd);
        continue;
      }
      const int client = ::accept4(listener, nullptr, nullptr, 0);
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      event = {EPOLLIN, {.fd = client}};
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event);
    }
  }
}
