// How a supervisor limits the memory that a sandbox's sockets use: with control groups of version
// 1, which do not enforce it well, and where the machine's limit for all sockets is near.
#include "gateway/core/log.hpp"
#include "local/namespaces/socket_memory.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr MemoryMonitor::Schedule kTcpSchedule{"tcp-watch", std::chrono::milliseconds(100), 20};
constexpr int64_t kWorthALook = 32 << 20;
// Whoever holds less is not why the machine is short of it.
constexpr int64_t kWorthEnding = 32 << 20;
// About the excess that 2500 connections with full buffers reach within their limit.
constexpr int64_t kTcpSlack = 32 << 20;
constexpr int kKillRounds = 16;
constexpr std::chrono::milliseconds kUntilHeld{10};

bool sockets_are_short() { return tcp_memory().is_short() || udp_memory().is_short(); }

}  // namespace

std::unique_ptr<MemoryMonitor> Supervisor::watch_tcp() {
  const bool is_counted = capabilities_.cgroups.version != 1;
  return std::make_unique<MemoryMonitor>(
      kTcpSchedule,
      [is_counted] {
        return is_counted ? sockets_are_short()
                          : tcp_memory().held > kWorthALook || udp_memory().is_short();
      },
      [this] {
        enforce_tcp_limits();
        if (sockets_are_short()) end_largest_socket_user();
      });
}

// Until no new ones appear, since programs may start others meanwhile.
void Supervisor::end_programs(const JournalRecord& record) const {
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

void Supervisor::end_hoarder(LiveSandbox& live, const JournalRecord& record,
                             const std::unique_lock<std::timed_mutex>& busy) const {
  end_programs(record);
  if (!busy || !record.paused) return;
  live.ending = true;
  send_kill(live);
}

// Like the kernel's OOM killer, but kills all programs of the sandbox: each may hold little and all
// of them together too much.
void Supervisor::enforce_tcp_limits() const {
  for (const JournalRecord& record : list()) {
    if (record.paused || cgroups_->socket_usage(record.cgroups).excess() <= kTcpSlack) continue;
    log::warn("programs ended: they hold more in TCP buffers than their sandbox may",
              {{"sandbox", record.id}});
    end_programs(record);
  }
}

// One at a time: what it held may be enough for the others. Paused ones count, too: a tenant could
// fill buffers and pause, and programs of others would end in vain.
void Supervisor::end_largest_socket_user() const {
  const std::vector<JournalRecord> records = list();
  std::vector<int64_t> held;
  for (const JournalRecord& record : records)
    held.push_back(cgroups_->socket_usage(record.cgroups).held);
  const auto largest = largest_holder(held, kWorthEnding);
  const LivePtr live = largest ? table_.lookup(records[*largest].id) : nullptr;
  if (!live) return;
  log::warn("programs ended: sockets of the machine are short of memory, and these hold most",
            {{"sandbox", records[*largest].id}, {"mib", held[*largest] >> 20}});
  const std::unique_lock busy(live->busy, kUntilHeld);
  end_hoarder(*live, busy ? live->record : records[*largest], busy);
}

}  // namespace sandgate
