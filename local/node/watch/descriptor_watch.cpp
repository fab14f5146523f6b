#include "local/node/watch/descriptor_watch.hpp"

#include <algorithm>
#include <optional>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/machine/slab_growth.hpp"
#include "local/node/supervisor/kill.hpp"
#include "local/node/supervisor/thaw_guard.hpp"
#include "local/node/watch/descriptor_usage.hpp"
#include "local/node/watch/epoll_items.hpp"

namespace sandgate {
namespace {

constexpr MemoryMonitor::Schedule kDescriptorSchedule{"descriptors", std::chrono::seconds(1), 1};
constexpr std::chrono::milliseconds kUntilBusy{10};
// A group that has used up its share of the processors waits for a tenth of a second.
constexpr std::chrono::milliseconds kUntilStill{250};
// A sandbox that used less processor time since the last scan cannot have opened too many
// directories or made too many locks in it.
constexpr int64_t kIdleMicros = 10'000;
constexpr int kMaxHiding = 3;

// Keeps a sandbox's processes from moving descriptors about while they are counted. A process in a
// long system call may not be stopped in time, and is counted as it is.
class ScanFreeze {
 public:
  explicit ScanFreeze(const LiveSandbox& live) {
    try {
      thaw_.emplace(live);
      freeze(live.record.cgroups, kUntilStill);
    } catch (const StepError&) {
      // There is no freezer, or no descriptor to thaw it with: they are counted as they run.
    }
  }

 private:
  std::optional<ThawGuard> thaw_;
};

DescriptorUsage usage_of(const JournalRecord& record) {
  return descriptor_usage_of(cgroup_processes(record.cgroups.front()),
                             "/proc/" + std::to_string(record.pid) + "/net");
}

void log_excess(const std::string& id, const DescriptorUsage& usage) {
  log::warn("programs ended: they hold more behind descriptors than their sandbox may",
            {{"sandbox", id},
             {"descriptors", usage.descriptors},
             {"directories", usage.directories},
             {"locks", usage.locks},
             {"lock_steps", usage.lock_steps},
             {"unnamed_locks", usage.unnamed_locks},
             {"in_flight", usage.in_flight},
             {"udp_sockets", usage.udp_sockets},
             {"epoll_items", usage.epoll_items},
             {"items_of_one", usage.items_of_one}});
}

}  // namespace

DescriptorWatch::DescriptorWatch(const SandboxTable& table, const CgroupTree& cgroups)
    : table_(table), cgroups_(cgroups) {
  has_grown();
  monitor_.emplace(
      kDescriptorSchedule, [] { return true; }, [this] { look(); });
}

bool DescriptorWatch::has_grown() {
  const bool has_more_locks = locks_.is_suspicious();
  return growth_.is_suspicious(read_text_file("/proc/meminfo").value_or(""),
                               cgroups_.charged_slab()) ||
         has_more_locks;
}

void DescriptorWatch::look() {
  const int64_t items = epoll_items_of_machine();
  if (has_grown())
    enforce_limits(of_all_, items, Suspects::all);
  else if (items > DescriptorUsage::kMaxItemsOfOne)
    enforce_limits(of_some_, items, Suspects::with_epoll_items);
}

// Who has hardly run since it held little is passed over, so that a machine whose kernel memory has
// grown for another reason pays for those that work only.
void DescriptorWatch::enforce_limits(Scans& last, int64_t machine_items, Suspects suspects) {
  Scans now;
  for (const JournalRecord& record : table_.list()) {
    if (record.cgroups.empty()) continue;
    Scan& seen = now[record.id] = last[record.id];
    const int64_t cpu_micros = cgroups_.cpu_micros(record.cgroups);
    const bool is_idle = seen.cpu_micros > 0 && cpu_micros - seen.cpu_micros < kIdleMicros;
    if (is_idle && seen.hiding == 0) continue;
    const int64_t items =
        std::min(machine_items, epoll_items_within(cgroups_.kernel_bytes(record.cgroups)));
    const bool is_suspect = suspects == Suspects::all || items > DescriptorUsage::kMaxItemsOfOne;
    seen.hiding = is_suspect ? scan(record, suspects, items, seen.hiding) : 0;
    seen.cpu_micros = cpu_micros;
  }
  last = std::move(now);
}

// While a sandbox is busy, its processes are counted as they run, and ended as they are.
int DescriptorWatch::scan(const JournalRecord& listed, Suspects suspects, int64_t most_items,
                          int hiding) {
  const LivePtr live = table_.lookup(listed.id);
  if (!live) return 0;
  const std::unique_lock busy(live->busy, kUntilBusy);
  const JournalRecord record = busy ? live->record : listed;
  std::optional<ScanFreeze> frozen;
  if (busy) frozen.emplace(*live);
  const DescriptorUsage usage = usage_of(record);
  const bool hides = suspects == Suspects::all && usage.may_hide_more();
  hiding = hides || usage.may_hide_items(most_items) ? hiding + 1 : 0;
  if (!usage.is_excessive() && hiding < kMaxHiding) return hiding;
  log_excess(record.id, usage);
  end_hoarder(*live, record, busy);
  return 0;
}

}  // namespace sandgate
