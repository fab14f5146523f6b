#include "local/agent/syscall_limiter.hpp"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace sandgate::agent {
namespace {

constexpr int kMaxSockets = 64;
constexpr int kMaxFilters = 256;
// Of all kinds; each could be a UDP socket that gathers 64 KiB.
constexpr int kMaxGathering = 512;
// The sandbox's own filters, which every thread inherits.
constexpr int kOwnFilters = 2;
// Pause between two answers: nearly all calls let through are made by then.
constexpr std::chrono::milliseconds kUntilMade{1};
constexpr std::chrono::seconds kTimeout{1};
constexpr std::chrono::milliseconds kLook{5};
// Of user and system time, 10 ms each; both are rounded down. A call is made in microseconds.
constexpr int64_t kEnoughTicks = 3;

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

// The number of sockets of this network namespace. Sockets by protocol would leave out UDP sockets
// that were disconnected, which keep what they have gathered.
std::optional<int> all_sockets() {
  std::ifstream counts("/proc/self/net/sockstat");
  std::string first, second;
  int sockets = 0;
  if (counts >> first >> second >> sockets && first == "sockets:" && second == "used")
    return sockets;
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

uint32_t backlog_of(const seccomp_data& listen_call) {
  return static_cast<uint32_t>(listen_call.args[1]);
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

// How many more there may be of what a call other than `listen` makes.
int remaining_of(int system_call) {
  switch (system_call) {
    case SYS_seccomp:
      return kMaxFilters - seccomp_filters().value_or(kMaxFilters);
    case SYS_socket:
      return kMaxSockets - netlink_sockets().value_or(kMaxSockets);
    default:  // sends with MSG_MORE; the sender is among the sockets
      return kMaxGathering + 1 - all_sockets().value_or(kMaxGathering + 1);
  }
}

struct ThreadStatus {
  bool is_there = true;
  char state = 'R';
  int64_t ticks = 0;  // its processor time
};

// The second component makes the times those of the thread instead of its process.
ThreadStatus status_of(pid_t thread) {
  const std::string id = std::to_string(thread);
  const std::string path = "/proc/" + id + "/task/" + id + "/stat";
  const std::string line = read_small_file(path.c_str(), 4096);
  ThreadStatus status;
  if (line.empty()) status.is_there = access(path.c_str(), F_OK) == 0 || errno != ENOENT;
  const size_t name_end = line.rfind(')');  // the name may contain any text
  if (name_end == std::string::npos) return status;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  int64_t user = 0, system = 0;
  fields >> status.state;
  for (int number = 4; number < 14; ++number) fields >> field;
  if (fields >> user >> system) status.ticks = user + system;
  return status;
}

// Whether a thread that was let go on with its call has made it. Neither that it was scheduled nor
// that it was interrupted shows that; on the way to and in these calls a thread sleeps
// uninterruptibly (D) only, so one in another state has left them, or waits in a send by a socket
// that is counted already.
bool has_made_it(const ThreadStatus& now, int64_t ticks_before) {
  const bool on_its_way = now.state == 'R' || now.state == 'D';
  return !now.is_there || !on_its_way || now.ticks - ticks_before >= kEnoughTicks;
}

}  // namespace

SyscallLimiter::SyscallLimiter(Loop& loop, int requests) : loop_(loop), requests_(requests) {
  if (requests_) watch_ = loop_.watch(requests_.get(), EPOLLIN, [this](uint32_t) { receive(); });
}

void SyscallLimiter::receive() {
  pending_ = {};
  // Fails when the calling process has been killed meanwhile.
  if (::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_RECV, &pending_) != 0) return;
  loop_.change(watch_, 0);
  deadline_ = loop_.now() + kTimeout;
  decide();
}

int SyscallLimiter::admitted(int system_call) const {
  return static_cast<int>(std::ranges::count(admitted_, system_call, &Admitted::system_call));
}

int SyscallLimiter::room_for_pending() {
  if (pending_.data.nr != SYS_listen) return remaining_of(pending_.data.nr);
  const int listening = listening_sockets().value_or(kMaxSockets);
  const auto at_most = static_cast<size_t>(listening + admitted(SYS_listen));
  const bool fits = backlogs_.has_room_for(backlog_of(pending_.data), at_most);
  return fits ? kMaxSockets - listening : 0;
}

// Whoever asks again has made the call before. Objects are counted last, so that a call which is
// no longer among those let through is among them.
void SyscallLimiter::decide() {
  std::erase_if(admitted_, [this](const Admitted& call) {
    return call.thread == static_cast<pid_t>(pending_.pid) ||
           has_made_it(status_of(call.thread), call.ticks);
  });
  const int room = room_for_pending();
  const bool passes = room > admitted(pending_.data.nr);
  if (!passes && room > 0 && loop_.now() < deadline_) {
    loop_.at(loop_.now() + kLook, [this] { decide(); });
    return;
  }
  answer(passes);
  loop_.at(loop_.now() + kUntilMade, [this] { loop_.change(watch_, EPOLLIN); });
}

void SyscallLimiter::answer(bool passes) {
  const auto thread = static_cast<pid_t>(pending_.pid);
  const Admitted call{thread, pending_.data.nr, status_of(thread).ticks};
  seccomp_notif_resp response{};
  response.id = pending_.id;
  if (passes)
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  else
    response.error = -EMFILE;
  const bool goes_on = ::ioctl(requests_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0;
  if (!passes || !goes_on) return;
  admitted_.push_back(call);
  if (call.system_call == SYS_listen) backlogs_.add(backlog_of(pending_.data));
}

}  // namespace sandgate::agent
