#include "local/node/egress/egress_listeners.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include <cstring>
#include <exception>
#include <thread>

#include "local/namespaces/net.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/egress/egress_routes.hpp"
#include "local/node/egress/local_route.hpp"
#include "local/node/egress/sk_lookup.hpp"

namespace sandgate {
namespace {

constexpr uint16_t kDnsPort = 53, kProxyPort = 3128, kTransparentPort = 3129;

sockaddr_in on_loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd open_socket(int family, int type) {
  Fd made = check_fd(socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "egress socket");
  const int on = 1;
  check(setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "egress socket");
  return made;
}

Fd bound(int type, uint16_t port) {
  Fd made = open_socket(AF_INET, type);
  const sockaddr_in address = on_loopback(port);
  check(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "egress bind");
  if (type == SOCK_STREAM) check(listen(made.get(), 256), "egress listen");
  return made;
}

// Serves both families: IPv4 connections have IPv4-mapped addresses.
Fd bound_transparent() {
  Fd made = open_socket(AF_INET6, SOCK_STREAM);
  const int off = 0;
  check(setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off), "egress socket");
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(kTransparentPort);
  check(bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "egress bind");
  check(listen(made.get(), 256), "egress listen");
  return made;
}

// Runs `work`, which changes the thread's network namespace, on a thread of its own. Rethrows what
// it throws.
template <class F>
void in_thread(F work) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

EgressListeners open_here(const NetworkPolicy& network) {
  EgressListeners listeners;
  for (const std::string& block : egress_routes(network)) add_local_route(block);
  listeners.dns_udp = bound(SOCK_DGRAM, kDnsPort);
  listeners.dns_tcp = bound(SOCK_STREAM, kDnsPort);
  listeners.proxy = bound(SOCK_STREAM, kProxyPort);
  listeners.transparent = bound_transparent();
  const Fd here = check_fd(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "own netns");
  listeners.sk_lookup = attach_sk_lookup(listeners.transparent.get(), here.get());
  return listeners;
}

}  // namespace

EgressListeners open_egress_listeners(int pidfd, const NetworkPolicy& network) {
  EgressListeners listeners;
  in_thread([&] {
    check(setns(pidfd, CLONE_NEWNET), "enter network namespace");
    listeners = open_here(network);
  });
  return listeners;
}

void change_egress_routes(int pidfd, const NetworkPolicy& before, const NetworkPolicy& after) {
  const auto had = egress_routes(before), wanted = egress_routes(after);
  in_thread([&] {
    check(setns(pidfd, CLONE_NEWNET), "enter network namespace");
    for (const std::string& block : wanted)
      if (!had.contains(block)) add_local_route(block);
    for (const std::string& block : had)
      if (!wanted.contains(block)) remove_local_route(block);
  });
}

std::string try_egress_listeners() {
  try {
    in_thread([] {
      check(unshare(CLONE_NEWNET), "network namespace");
      bring_loopback_up();
      open_here({});
    });
  } catch (const StepError& failure) {
    return std::string(failure.what()) + ": " + std::strerror(failure.number);
  }
  return "";
}

}  // namespace sandgate
