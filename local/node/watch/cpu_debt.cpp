#include "local/node/watch/cpu_debt.hpp"

#include <algorithm>

namespace sandgate {

// A counter that cannot be read, as of a sandbox that ends, is 0 or negative.
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

}  // namespace sandgate
