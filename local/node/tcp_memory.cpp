// How a supervisor limits the memory that a sandbox's TCP buffers use.
#include <set>
#include <sstream>

#include "gateway/core/log.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

// About the excess that 2500 connections with full buffers reach within their limit.
constexpr int64_t kTcpSlack = 32 << 20;

std::set<pid_t> members_of(const std::string& cgroup) {
  std::set<pid_t> members;
  std::istringstream list(read_cgroup_file(cgroup, "cgroup.procs"));
  for (pid_t pid = 0; list >> pid;) members.insert(pid);
  return members;
}

// A pid may be reused, so membership is checked again after the pidfd was opened.
void end_programs(const std::string& cgroup, int64_t agent) {
  for (const pid_t pid : members_of(cgroup)) {
    if (pid == agent) continue;
    const Fd process = open_pidfd(pid);
    if (process && members_of(cgroup).contains(pid)) kill_by_pidfd(process);
  }
}

}  // namespace

// Like the kernel's OOM killer, but kills all programs of the sandbox: each may hold little and all
// of them together too much.
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
