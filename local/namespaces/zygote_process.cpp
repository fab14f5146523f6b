#include "local/namespaces/zygote_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "local/fd_passing.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/limits.hpp"
#include "local/namespaces/net.hpp"
#include "local/namespaces/spawn_actions.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

static_assert(std::char_traits<char>::length(kLauncherName) <=
              std::char_traits<char>::length(kZygoteName));

constexpr int kQuietMs = 5;  // after a launch

// CLONE_PARENT makes the copy a child of the node, which can then wait for it.
pid_t copy_self() {
  return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
}

// Above all targets, so that no dup2 overwrites a source.
Fd out_of_the_way(const Fd& fd) {
  return check_fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, kTargetLimit), "launcher descriptor");
}

void install_descriptors(std::vector<Fd> received) {
  for (Fd& fd : received) fd = out_of_the_way(fd);
  int place = kSpecFd;
  for (const Fd& fd : received) check(dup2(fd.get(), place++), "launcher descriptor");
}

// The network of the next sandbox, which takes longer to make than the rest of a launcher's work.
// It is made while nobody asks for one.
class NextNetwork {
 public:
  // Returns once it is made, or cannot be, or somebody asks.
  void make_unless_asked() {
    pollfd control{kZygoteControlFd, POLLIN, 0};
    if (network_ || !may_make_ || poll(&control, 1, kQuietMs) != 0) return;
    try {
      network_ = out_of_the_way(make_network({}));
    } catch (const StepError&) {
      may_make_ = false;  // without privileges each sandbox makes its own
    }
  }

  Fd take() { return std::move(network_); }

 private:
  Fd network_;
  bool may_make_ = true;
};

[[noreturn]] void become_launcher(char* name, std::vector<Fd> received, const Fd& network,
                                  LaunchFunction launch) {
  std::strcpy(name, kLauncherName);
  prctl(PR_SET_NAME, kLauncherName);
  try {
    install_descriptors(std::move(received));
    if (network) check(dup3(network.get(), kNetworkFd, O_CLOEXEC), "launcher's network");
  } catch (const StepError&) {
    _exit(1);  // it has no report socket yet
  }
  _exit(launch(static_cast<bool>(network)));
}

void report_spawn_failure(const std::vector<Fd>& received, int error_number) {
  constexpr size_t kReport = kReportFd - kSpecFd;
  if (received.size() <= kReport) return;
  const LaunchReport report{LaunchReport::Kind::failed, 0, "copy zygote", error_number};
  send_with_fd(received[kReport].get(), to_json_text(report), -1);
}

}  // namespace

int run_zygote(char* name, LaunchFunction launch) {
  prctl(PR_SET_NAME, kZygoteName);
  give_up_being_spared();
  NextNetwork next;
  for (;;) {
    next.make_unless_asked();
    char word[1];
    FdMessage received = receive_with_fds(kZygoteControlFd, word);
    if (received.size <= 0) return received.size < 0;
    const Fd network = next.take();
    const pid_t copy = copy_self();
    if (copy == 0) become_launcher(name, std::move(received.fds), network, launch);
    if (copy < 0) report_spawn_failure(received.fds, errno);
  }
}

}  // namespace sandgate
