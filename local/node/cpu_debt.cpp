#include "local/node/cpu_debt.hpp"

#include <unistd.h>

#include <algorithm>

#include "gateway/core/files.hpp"
#include "local/node/supervisor.hpp"

namespace sandgate {
namespace {

// Short enough for a program's time limit to be kept within a second.
constexpr MemoryMonitor::Schedule kDebtSchedule{"cpu-debts", std::chrono::milliseconds(250), 50};

}  // namespace

// A counter that cannot be read, as of a sandbox that ends, is 0.
int64_t CpuDebt::advance(int64_t used_micros, Clock::time_point now, int64_t milli_vcpu) {
  if (used_micros_ >= 0) {
    using std::chrono::microseconds;
    const int64_t passed = std::chrono::duration_cast<microseconds>(now - at_).count();
    const int64_t used = std::max<int64_t>(0, used_micros - used_micros_);
    micros_ = std::max<int64_t>(0, micros_ + used - passed * milli_vcpu / 1000);
  }
  used_micros_ = std::max(used_micros_, used_micros);
  at_ = now;
  return micros_;
}

// The name before the state is the process's own choice.
bool is_runnable(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0;
}

std::unique_ptr<MemoryMonitor> Supervisor::watch_cpu_debts() {
  return std::make_unique<MemoryMonitor>(
      kDebtSchedule, [] { return true; },
      [this, debts = CpuDebts()]() mutable { forgive_cpu_debts(debts); });
}

// Only of sandboxes whose agent has something to do: the others are held to their limit.
void Supervisor::forgive_cpu_debts(CpuDebts& last) const {
  const int64_t worth = CpuDebt::worth_forgiving(sysconf(_SC_NPROCESSORS_ONLN));
  CpuDebts now;
  for (const JournalRecord& record : list()) {
    if (record.cgroups.empty() || record.pid <= 0) continue;
    CpuDebt& debt = now[record.id] = last[record.id];
    const int64_t used = cgroups_->cpu_micros(record.cgroups);
    if (debt.advance(used, CpuDebt::Clock::now(), record.resources.milli_vcpu) < worth) continue;
    const std::string agent = "/proc/" + std::to_string(record.pid) + "/stat";
    if (!is_runnable(read_text_file(agent).value_or(""))) continue;
    renew_cpu_limit(record.cgroups);
    debt.forgive();
  }
  last = std::move(now);
}

}  // namespace sandgate
