#include "local/node/supervisor/first_process.hpp"

#include <poll.h>

#include "local/namespaces/launcher.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

bool has_ended(const Fd& pidfd) {
  pollfd ended{pidfd.get(), POLLIN, 0};
  return check(poll(&ended, 1, 0), "look at a process") != 0;
}

}  // namespace

// The pid may have been reused, so the start time is compared after the pidfd was opened.
Fd open_first_process(const JournalRecord& record) {
  if (record.pid <= 0) return {};
  const auto pid = static_cast<pid_t>(record.pid);
  Fd pidfd = open_pidfd(pid);
  if (!pidfd && errno == ESRCH) return {};
  if (!pidfd) throw StepError("look for a process", errno);
  const uint64_t start_time = process_start_time(pid);
  if (has_ended(pidfd) || (start_time != 0 && start_time != record.start_time)) return {};
  if (start_time == 0) throw StepError("read a process's start time", EMFILE);
  return pidfd;
}

}  // namespace sandgate
