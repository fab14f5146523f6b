#include "local/node/watch/socket_watch.hpp"

#include "gateway/core/log.hpp"
#include "local/namespaces/socket_memory.hpp"
#include "local/node/supervisor/kill.hpp"

namespace sandgate {
namespace {

constexpr MemoryMonitor::Schedule kSocketSchedule{"tcp-watch", std::chrono::milliseconds(100), 20};
constexpr int64_t kWorthALook = 32 << 20;
// Whoever holds less is not why the machine is short of it.
constexpr int64_t kWorthEnding = 32 << 20;
// About the excess that 2500 connections with full buffers reach within their limit.
constexpr int64_t kTcpSlack = 32 << 20;
constexpr std::chrono::milliseconds kUntilHeld{10};

bool sockets_are_short() { return tcp_memory().is_short() || udp_memory().is_short(); }

}  // namespace

SocketWatch::SocketWatch(const SandboxTable& table, const CgroupTree& cgroups)
    : table_(table),
      cgroups_(cgroups),
      monitor_(
          kSocketSchedule,
          [is_counted = cgroups.support().version != 1] {
            return is_counted ? sockets_are_short()
                              : tcp_memory().held > kWorthALook || udp_memory().is_short();
          },
          [this] {
            enforce_limits();
            if (sockets_are_short()) end_largest_user();
          }) {}

// Like the kernel's OOM killer, but kills all programs of the sandbox: each may hold little and all
// of them together too much.
void SocketWatch::enforce_limits() const {
  for (const JournalRecord& record : table_.list()) {
    if (record.paused || cgroups_.socket_usage(record.cgroups).excess() <= kTcpSlack) continue;
    log::warn("programs ended: they hold more in TCP buffers than their sandbox may",
              {{"sandbox", record.id}});
    end_programs(record);
  }
}

// One at a time: what it held may be enough for the others. Paused ones count, too: a tenant could
// fill buffers and pause, and programs of others would end in vain.
void SocketWatch::end_largest_user() const {
  const std::vector<JournalRecord> records = table_.list();
  std::vector<int64_t> held;
  for (const JournalRecord& record : records)
    held.push_back(cgroups_.socket_usage(record.cgroups).held);
  const auto largest = largest_holder(held, kWorthEnding);
  const LivePtr live = largest ? table_.lookup(records[*largest].id) : nullptr;
  if (!live) return;
  log::warn("programs ended: sockets of the machine are short of memory, and these hold most",
            {{"sandbox", records[*largest].id}, {"mib", held[*largest] >> 20}});
  const std::unique_lock busy(live->busy, kUntilHeld);
  end_hoarder(*live, busy ? live->record : records[*largest], busy);
}

}  // namespace sandgate
