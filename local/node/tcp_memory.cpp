// How a supervisor limits the memory that a sandbox's TCP buffers use, with control groups of
// version 1.
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "gateway/core/log.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr MemoryWatch::Pace kTcpPace{"tcp-watch", std::chrono::milliseconds(100), 20};
constexpr int64_t kWorthALook = 32 << 20;
// About the excess that 2500 connections with full buffers reach within their limit.
constexpr int64_t kTcpSlack = 32 << 20;
constexpr int kKillRounds = 16;

// The line "TCP: inuse 5 orphan 0 tw 0 alloc 5 mem 9204" gives the pages of all network namespaces.
int64_t machine_tcp_bytes() {
  std::ifstream counts("/proc/net/sockstat");
  for (std::string line; std::getline(counts, line);) {
    const size_t at = line.find(" mem ");
    if (!line.starts_with("TCP:") || at == std::string::npos) continue;
    int64_t pages = 0;
    std::istringstream(line.substr(at + 5)) >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  }
  return 0;
}

}  // namespace

std::unique_ptr<MemoryWatch> Supervisor::watch_tcp() {
  return std::make_unique<MemoryWatch>(
      kTcpPace, [] { return machine_tcp_bytes() > kWorthALook; }, [this] { end_tcp_hoards(); });
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
    if (fresh.empty()) return;
    kill_in_cgroup(cgroup, fresh);
  }
}

// Like the kernel's OOM killer, but kills all programs of the sandbox: each may hold little and all
// of them together too much.
void Supervisor::end_tcp_hoards() const {
  for (const JournalRecord& record : list()) {
    if (record.paused || cgroups_->tcp_excess(record.cgroups) <= kTcpSlack) continue;
    log::warn("programs ended: they hold more in TCP buffers than their sandbox may",
              {{"sandbox", record.id}});
    end_programs(record);
  }
}

}  // namespace sandgate
