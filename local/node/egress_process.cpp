#include "local/node/egress_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

#include "local/egress/egress.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr int kAboveEgressFds = 64, kControlBuffer = 4 << 20;

Fd settings_memfd(const Json& settings) {
  const std::string text = settings.dump();
  Fd file = check_fd(memfd_create("egress", MFD_CLOEXEC), "egress settings");
  if (pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw StepError("egress settings", EIO);
  return file;
}

// Copies out of the way first: no source may be another's target.
class Targets {
 public:
  Targets() { posix_spawn_file_actions_init(&actions_); }
  Targets(const Targets&) = delete;
  ~Targets() { posix_spawn_file_actions_destroy(&actions_); }

  void give(int fd, int target) {
    Fd high = check_fd(fcntl(fd, F_DUPFD_CLOEXEC, kAboveEgressFds), "egress descriptor");
    posix_spawn_file_actions_adddup2(&actions_, high.get(), target);
    kept_.push_back(std::move(high));
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<Fd> kept_;
};

pid_t spawn_self(const Targets& targets) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::string program = "sandgate", verb = "egress", path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::string lookups = "RES_OPTIONS=timeout:2 attempts:2";  // a thread hangs in one no longer
  std::array<char*, 3> argv{program.data(), verb.data(), nullptr};
  std::array<char*, 3> environment{path.data(), lookups.data(), nullptr};
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, "/proc/self/exe", targets.actions(), &attributes,
                                  argv.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw StepError("start egress", failure);
  return pid;
}

}  // namespace

EgressProcess start_egress(int listener, const Json& settings) {
  std::array<int, 2> pair{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), "egress control");
  EgressProcess process;
  process.control = Fd(pair[0]);
  const Fd theirs(pair[1]);
  for (const int end : pair)
    setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &kControlBuffer, sizeof kControlBuffer);
  const timeval patience{5, 0};  // of the node with a process that does not listen
  setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const Fd file = settings_memfd(settings);
  const Fd null = check_fd(open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  Targets targets;
  targets.give(null.get(), 0);
  targets.give(null.get(), 1);
  targets.give(theirs.get(), egress::kControlFd);
  targets.give(listener, egress::kListenerFd);
  targets.give(file.get(), egress::kSettingsFd);
  process.pid = spawn_self(targets);
  return process;
}

}  // namespace sandgate
