#include "local/agent/gate.hpp"

#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace sandgate::agent {
namespace {

constexpr int kMostSockets = 64;
constexpr int kMostFilters = 256;
// The sandbox's own filters, which every thread inherits.
constexpr int kOwnFilters = 2;
// Pause between two answers, until the call let through shows in the next count.
constexpr std::chrono::milliseconds kUntilCounted{1};

// The number of netlink sockets in this network namespace, bound or not.
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

// The number of listening TCP sockets of one IP version. The kernel lists them first, so the scan
// stops at the first other socket.
std::optional<int> listening_in(const char* list) {
  std::ifstream sockets(list);
  std::string line;
  if (!std::getline(sockets, line)) return std::nullopt;
  int listening = 0;
  for (std::string slot, local, remote, state; std::getline(sockets, line); ++listening) {
    std::istringstream columns(line);
    if (!(columns >> slot >> local >> remote >> state) || state != "0A") break;
  }
  return listening;
}

std::optional<int> listening_sockets() {
  const auto four = listening_in("/proc/self/net/tcp");
  if (!four || access("/proc/self/net/tcp6", F_OK) != 0) return four;
  const auto six = listening_in("/proc/self/net/tcp6");
  return six ? std::optional(*four + *six) : std::nullopt;
}

int filters_of(const std::filesystem::path& thread) {
  constexpr std::string_view kName = "Seccomp_filters:";
  std::ifstream status(thread / "status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(kName)) return std::stoi(line.substr(kName.size())) - kOwnFilters;
  return 0;  // the thread has ended
}

// A filter that several threads share is counted once per thread.
std::optional<int> seccomp_filters() {
  std::error_code failure;
  int filters = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc", failure)) {
    std::error_code ended;
    for (const auto& thread : std::filesystem::directory_iterator(process.path() / "task", ended))
      filters += filters_of(thread.path());
  }
  return failure ? std::nullopt : std::optional(filters);
}

bool may_pass(int system_call) {
  if (system_call == SYS_seccomp) return seccomp_filters().value_or(kMostFilters) < kMostFilters;
  const auto sockets = system_call == SYS_listen ? listening_sockets() : netlink_sockets();
  return sockets.value_or(kMostSockets) < kMostSockets;
}

}  // namespace

Gate::Gate(Loop& loop, int requests) : loop_(loop), requests_(requests) {
  if (requests_) watch_ = loop_.watch(requests_.get(), EPOLLIN, [this](uint32_t) { answer(); });
}

void Gate::answer() {
  seccomp_notif request{};
  // Fails when the calling process has been killed meanwhile.
  if (::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  seccomp_notif_resp response{};
  response.id = request.id;
  if (may_pass(request.data.nr))
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else
    response.error = -EMFILE;
  ::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response);
  loop_.change(watch_, 0);
  loop_.at(std::chrono::steady_clock::now() + kUntilCounted,
           [this] { loop_.change(watch_, EPOLLIN); });
}

}  // namespace sandgate::agent
