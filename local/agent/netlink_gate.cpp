#include "local/agent/netlink_gate.hpp"

#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace sandgate::agent {
namespace {

constexpr int kMostSockets = 64;
// What was let through is counted by then; who asks meanwhile waits.
constexpr std::chrono::milliseconds kUntilCounted{1};

// Of this network namespace, bound or not.
std::optional<int> netlink_sockets() {
  std::ifstream protocols("/proc/self/net/protocols");
  for (std::string line; std::getline(protocols, line);) {
    std::istringstream columns(line);
    std::string name, object_size;
    int sockets = 0;
    if (columns >> name >> object_size >> sockets && name == "NETLINK") return sockets;
  }
  return std::nullopt;
}

}  // namespace

NetlinkGate::NetlinkGate(Loop& loop, int requests) : loop_(loop), requests_(requests) {
  if (requests_) watch_ = loop_.watch(requests_.get(), EPOLLIN, [this](uint32_t) { answer(); });
}

void NetlinkGate::answer() {
  seccomp_notif request{};
  // Who asked may have ended by now.
  if (::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  seccomp_notif_resp response{};
  response.id = request.id;
  const auto sockets = netlink_sockets();
  if (sockets && *sockets < kMostSockets)
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else
    response.error = -EMFILE;
  ::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
  loop_.change(watch_, 0);
  loop_.at(std::chrono::steady_clock::now() + kUntilCounted,
           [this] { loop_.change(watch_, EPOLLIN); });
}

}  // namespace sandgate::agent
