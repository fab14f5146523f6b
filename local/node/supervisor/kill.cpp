#include "local/node/supervisor/kill.hpp"

#include <set>

#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/pidfd.hpp"

namespace sandgate {
namespace {

constexpr int kKillRounds = 16;

}  // namespace

void send_kill(LiveSandbox& live) {
  if (!live.pidfd) return;
  kill_by_pidfd(live.pidfd);
  if (live.record.paused) thaw(live.record.cgroups);  // frozen processes do not die
}

// Until no new ones appear, since programs may start others meanwhile.
void end_programs(const JournalRecord& record) {
  if (record.cgroups.empty()) return;
  const std::string& cgroup = record.cgroups.front();
  std::set<pid_t> seen{static_cast<pid_t>(record.pid)};
  for (int round = 0; round < kKillRounds; ++round) {
    std::set<pid_t> fresh;
    for (const pid_t pid : cgroup_processes(cgroup))
      if (seen.insert(pid).second) fresh.insert(pid);
    if (fresh.empty()) break;
    kill_in_cgroup(cgroup, fresh);
  }
  renew_cpu_limit(record.cgroups);  // what waits for its turn dies, and frees, only with one
}

void end_hoarder(LiveSandbox& live, const JournalRecord& record,
                 const std::unique_lock<std::timed_mutex>& busy) {
  end_programs(record);
  if (!busy || !record.paused) return;
  live.ending = true;
  send_kill(live);
}

}  // namespace sandgate
