// How a supervisor holds sandboxes to their share of the memory that TCP buffers of a machine have.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <set>
#include <sstream>

#include "gateway/core/log.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

// Some 2500 connections with full buffers come to have that beside their share.
constexpr int64_t kTcpSlack = 32 << 20;

std::set<pid_t> members_of(const std::string& cgroup) {
  std::set<pid_t> members;
  std::istringstream list(read_cgroup_file(cgroup, "cgroup.procs"));
  for (pid_t pid = 0; list >> pid;) members.insert(pid);
  return members;
}

// A number may be another process's by the time it is used: the pidfd is of the one that still is a
// member when it is open.
void end_programs(const std::string& cgroup, int64_t agent) {
  for (const pid_t pid : members_of(cgroup)) {
    if (pid == agent) continue;
    const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (process && members_of(cgroup).contains(pid))
      syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
}

}  // namespace

// As where other memory runs out, only that the kernel chooses one program then: here each may hold
// little, and all of them together too much.
void Supervisor::end_tcp_hoards() const {
  for (const JournalRecord& record : list()) {
    if (record.paused || cgroups_->tcp_excess(record.cgroups) <= kTcpSlack) continue;
    log::warn("programs ended: they hold more in TCP buffers than their sandbox may",
              {{"sandbox", record.id}});
    for (const std::string& cgroup : record.cgroups) {
      if (!read_cgroup_file(cgroup, "memory.kmem.tcp.usage_in_bytes").empty())
        end_programs(cgroup, record.pid);
    }
  }
}

}  // namespace sandgate
