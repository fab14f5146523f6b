#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace sandgate {

// The processor time that a sandbox has used beyond its limit and not yet waited for. Since Linux
// 6.18 a program is stopped by the limit only where it returns from the kernel, so that long system
// calls let it grow; until it is paid, nothing of the sandbox runs, and its agent does not answer.
class CpuDebt {
 public:
  using Clock = std::chrono::steady_clock;

  // Returns the debt in microseconds when the sandbox has used `used_micros` since its start. The
  // first call returns 0. Time that the limit grants and nobody uses is not kept.
  int64_t advance(int64_t used_micros, Clock::time_point now, int64_t milli_vcpu);
  void forgive() { micros_ = 0; }

  // The least that is worth forgiving, in microseconds. On each processor a tick or two may pass
  // until the limit is noticed, in programs that make no long calls, too.
  static int64_t worth_forgiving(int64_t processors) { return 100'000 + 10'000 * processors; }

 private:
  int64_t used_micros_ = -1;  // at the last call; -1: there was none
  Clock::time_point at_;
  int64_t micros_ = 0;
};

// Whether a process runs or would if it had a processor, by the text of its /proc/PID/stat.
bool is_runnable(const std::string& stat);

}  // namespace sandgate
