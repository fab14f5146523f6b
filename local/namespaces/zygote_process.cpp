#include "local/namespaces/zygote_process.hpp"

#include <fcntl.h>
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
#include "local/namespaces/spawn_actions.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

static_assert(std::char_traits<char>::length(kLauncherName) <=
              std::char_traits<char>::length(kZygoteName));

// CLONE_PARENT makes the copy a child of the node, which can then wait for it.
pid_t copy_self() {
  return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0));
}

// Duplicates the descriptors above all targets first, so that no dup2 overwrites a source.
void install_descriptors(std::vector<Fd> received) {
  for (Fd& fd : received)
    fd = check_fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, kTargetLimit), "launcher descriptor");
  int place = kSpecFd;
  for (const Fd& fd : received) check(dup2(fd.get(), place++), "launcher descriptor");
}

[[noreturn]] void become_launcher(char* name, std::vector<Fd> received, int (*launch)()) {
  std::strcpy(name, kLauncherName);
  prctl(PR_SET_NAME, kLauncherName);
  try {
    install_descriptors(std::move(received));
  } catch (const StepError&) {
    _exit(1);  // it has no report socket yet
  }
  _exit(launch());
}

void report_spawn_failure(const std::vector<Fd>& received, int error_number) {
  constexpr size_t kReport = kReportFd - kSpecFd;
  if (received.size() <= kReport) return;
  const LaunchReport report{LaunchReport::Kind::failed, 0, "copy zygote", error_number};
  send_with_fd(received[kReport].get(), to_json_text(report), -1);
}

}  // namespace

int run_zygote(char* name, int (*launch)()) {
  prctl(PR_SET_NAME, kZygoteName);
  give_up_being_spared();
  for (;;) {
    char word[1];
    FdMessage received = receive_with_fds(kZygoteControlFd, word);
    if (received.size <= 0) return received.size < 0;
    const pid_t copy = copy_self();
    if (copy == 0) become_launcher(name, std::move(received.fds), launch);
    if (copy < 0) report_spawn_failure(received.fds, errno);
  }
}

}  // namespace sandgate
