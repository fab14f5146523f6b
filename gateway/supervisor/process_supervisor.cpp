#include "gateway/supervisor/process_supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"

namespace sandgate {
namespace {

Fd signal_descriptor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

std::optional<std::string> ProcessSupervisor::start_due() {
  for (SupervisedChild& child : children_)
    if (auto reason = child.start_if_due()) return reason;
  return std::nullopt;
}

std::optional<std::string> ProcessSupervisor::reap() {
  int status = 0;
  // Also reaps orphans of a dead node: this process is the subreaper.
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (SupervisedChild& child : children_)
      if (auto reason = child.note_exit(pid, status)) return reason;
  return std::nullopt;
}

void ProcessSupervisor::reload() {
  const auto renewal = renew_ ? renew_() : std::nullopt;
  for (SupervisedChild& child : children_) child.reload(renewal);
}

std::chrono::milliseconds ProcessSupervisor::idle_time() const {
  std::chrono::milliseconds least{60'000};
  for (const SupervisedChild& child : children_) least = std::min(least, child.idle_time());
  return least;
}

int ProcessSupervisor::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Fd signals = signal_descriptor();
  bool told = false;
  std::optional<std::string> reason;
  while (!told && !reason) {
    reason = start_due();
    if (reason) break;
    pollfd waiting{signals.get(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(idle_time().count()));
    signalfd_siginfo info;
    while (!told &&
           read(signals.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) told = true;
      if (info.ssi_signo == SIGHUP) reload();
    }
    if (told) break;
    for (SupervisedChild& child : children_) child.send_renewed();
    reason = reap();
  }
  for (auto child = children_.rbegin(); child != children_.rend(); ++child) child->stop();
  // Thrown last, so that the reason is the last line of output.
  if (reason) throw Error(ErrorCode::unavailable, *reason);
  return 0;
}

}  // namespace sandgate
