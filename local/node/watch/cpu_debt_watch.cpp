#include "local/node/watch/cpu_debt_watch.hpp"

#include <unistd.h>

#include "gateway/core/files.hpp"

namespace sandgate {
namespace {

// Short enough for a program's time limit to be kept within a second.
constexpr MemoryMonitor::Schedule kDebtSchedule{"cpu-debts", std::chrono::milliseconds(250), 50};

}  // namespace

CpuDebtWatch::CpuDebtWatch(const SandboxTable& table, const CgroupTree& cgroups)
    : table_(table),
      cgroups_(cgroups),
      monitor_(
          kDebtSchedule, [] { return true; }, [this] { forgive(); }) {}

// Only of sandboxes whose agent has something to do: the others are held to their limit.
void CpuDebtWatch::forgive() {
  const int64_t worth = CpuDebt::worth_forgiving(sysconf(_SC_NPROCESSORS_ONLN));
  std::map<std::string, CpuDebt> now;
  for (const JournalRecord& record : table_.list()) {
    if (record.cgroups.empty() || record.pid <= 0) continue;
    CpuDebt& debt = now[record.id] = debts_[record.id];
    const int64_t used = cgroups_.cpu_micros(record.cgroups);
    if (debt.advance(used, CpuDebt::Clock::now(), record.resources.milli_vcpu) < worth) continue;
    const std::string agent = "/proc/" + std::to_string(record.pid) + "/stat";
    if (!is_runnable(read_text_file(agent).value_or(""))) continue;
    renew_cpu_limit(record.cgroups);
    debt.forgive();
  }
  debts_ = std::move(now);
}

}  // namespace sandgate
