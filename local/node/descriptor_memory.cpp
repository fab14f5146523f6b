// How a supervisor limits what a sandbox holds through descriptors beside its memory limit, and the
// epoll items by which it could hold up others.
#include <algorithm>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/node/descriptor_hoard.hpp"
#include "local/node/epoll_items.hpp"
#include "local/node/slab_growth.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

constexpr MemoryWatch::Pace kDescriptorPace{"descriptors", std::chrono::seconds(1), 1};
constexpr std::chrono::milliseconds kUntilBusy{10};
// A group that has used up its share of the processors waits for a tenth of a second.
constexpr std::chrono::milliseconds kUntilStill{250};
// In less than that nobody opens as many directories or makes as many locks as are too much.
constexpr int64_t kIdleMicros = 10'000;
constexpr int kMostHiding = 3;

// Keeps a sandbox's processes from moving descriptors about while they are counted. A process in a
// long system call may not be stopped in time, and is counted as it is.
class CountingStandstill {
 public:
  explicit CountingStandstill(const JournalRecord& record) : record_(record) {
    try {
      freeze(record_.cgroups, kUntilStill);
    } catch (const StepError&) {
      // there is no freezer
    }
  }
  ~CountingStandstill() {
    if (!record_.paused) thaw(record_.cgroups);
  }
  CountingStandstill(const CountingStandstill&) = delete;

 private:
  const JournalRecord& record_;
};

DescriptorHoard hoard_of(const JournalRecord& record) {
  return descriptors_of(cgroup_processes(record.cgroups.front()),
                        "/proc/" + std::to_string(record.pid) + "/net");
}

void log_hoard(const std::string& id, const DescriptorHoard& hoard) {
  log::warn("programs ended: they hold more behind descriptors than their sandbox may",
            {{"sandbox", id},
             {"descriptors", hoard.descriptors},
             {"directories", hoard.directories},
             {"locks", hoard.locks},
             {"in_flight", hoard.in_flight},
             {"udp_sockets", hoard.udp_sockets},
             {"epoll_items", hoard.epoll_items},
             {"items_of_one", hoard.items_of_one}});
}

}  // namespace

std::unique_ptr<MemoryWatch> Supervisor::watch_descriptors() {
  auto has_grown = [this, growth = SlabGrowth()]() mutable {
    return growth.is_suspicious(read_text_file("/proc/meminfo").value_or(""),
                                cgroups_->charged_slab());
  };
  has_grown();
  auto look = [this, has_grown, of_all = DescriptorLooks(), of_some = DescriptorLooks()]() mutable {
    const int64_t items = epoll_items_of_machine();
    if (has_grown())
      end_descriptor_hoards(of_all, items, Suspects::all);
    else if (items > DescriptorHoard::kMostItemsOfOne)
      end_descriptor_hoards(of_some, items, Suspects::with_epoll_items);
  };
  return std::make_unique<MemoryWatch>(
      kDescriptorPace, [] { return true; }, std::move(look));
}

// Who has hardly run since it held little is passed over, so that a machine whose kernel memory has
// grown for another reason pays for those that work only.
void Supervisor::end_descriptor_hoards(DescriptorLooks& last, int64_t machine_items,
                                       Suspects suspects) {
  DescriptorLooks now;
  for (const JournalRecord& record : list()) {
    if (record.cgroups.empty()) continue;
    DescriptorLook& look = now[record.id] = last[record.id];
    const int64_t cpu_micros = cgroups_->cpu_micros(record.cgroups);
    const bool is_idle = look.cpu_micros > 0 && cpu_micros - look.cpu_micros < kIdleMicros;
    if (is_idle && look.hiding == 0) continue;
    const int64_t items =
        std::min(machine_items, epoll_items_within(cgroups_->kernel_bytes(record.cgroups)));
    const bool is_suspect = suspects == Suspects::all || items > DescriptorHoard::kMostItemsOfOne;
    look.hiding = is_suspect ? look_at_descriptors(record, suspects, items, look.hiding) : 0;
    look.cpu_micros = cpu_micros;
  }
  last = std::move(now);
}

// While a sandbox is busy, its processes are counted as they run, and ended as they are.
int Supervisor::look_at_descriptors(const JournalRecord& listed, Suspects suspects,
                                    int64_t most_items, int hiding) {
  const LivePtr live = table_.lookup(listed.id);
  if (!live) return 0;
  const std::unique_lock busy(live->busy, kUntilBusy);
  const JournalRecord record = busy ? live->record : listed;
  std::optional<CountingStandstill> standstill;
  if (busy) standstill.emplace(record);
  const DescriptorHoard hoard = hoard_of(record);
  const bool hides = suspects == Suspects::all && hoard.may_hide_more();
  hiding = hides || hoard.may_hide_items(most_items) ? hiding + 1 : 0;
  if (!hoard.is_too_much() && hiding < kMostHiding) return hiding;
  log_hoard(record.id, hoard);
  end_hoarder(*live, record, busy);
  return 0;
}

}  // namespace sandgate
