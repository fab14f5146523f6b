#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/core/error.hpp"
#include "gateway/core/time.hpp"
#include "gateway/placement/deployment_key.hpp"

namespace sandgate {

enum class Breaker { closed, open, half_open };
std::string_view to_string(Breaker breaker);

// What is known of one deployment from the creates tried on it.
struct Health {
  Breaker breaker = Breaker::closed;
  bool resting = false;  // asked to be left alone for a while (Retry-After)
  std::optional<double> latency_p50_ms;  // empty: never measured
  double failure_rate = 0;  // EWMA, 0..1
};

// What was decided about a breaker, and when.
struct Verdict {
  Breaker breaker = Breaker::closed;  // open or closed
  Time open_until{};
  std::chrono::seconds cooldown{0};
  Time at{};
  bool turned = false;  // it was the other way before: not so when a probe failed
};

// Recent successes and failures per deployment, in memory: each replica judges by what it saw, and
// takes over what another judged later (SharedBreakers).
// The breaker opens after 5 failures in a row, or when over half of at least 10 attempts in 60 s
// failed, or at once when the backend refuses our credentials; it stays open for 30 s, twice as
// long each time up to 5 min, then lets one probe through. Thread-safe; a mutex, never awaited
// under.
class HealthBoard {
 public:
  explicit HealthBoard(const Clock& clock) : clock_(clock) {}

  // Called with a deployment and what was decided here, outside the lock. Set before use.
  void on_change(std::function<void(const DeploymentKey&, const Verdict&)> callback);

  Health look(const DeploymentKey& deployment) const;
  // Asks to send one attempt now: false while open, and in half-open for all but the one probe.
  // Every admitted attempt ends in exactly one of the three below.
  bool admit(const DeploymentKey& deployment);
  void withdrawn(const DeploymentKey& deployment);  // not sent after all
  void succeeded(const DeploymentKey& deployment, std::chrono::milliseconds took);
  // `error` tells what counts: unavailable, timeout and internal do; a full, limiting or
  // disagreeing backend works. Its retry_after rests the deployment.
  void failed(const DeploymentKey& deployment, const Error& error);
  // It was away and is back, as who runs it knows: what it failed before says nothing now.
  void returned(const DeploymentKey& deployment);
  // Takes over what somebody else decided, unless this board decided later.
  void adopt(const DeploymentKey& deployment, const Verdict& verdict);

 private:
  struct Attempt {
    Time at;
    bool failed;
  };
  struct Entry {
    Breaker breaker = Breaker::closed;
    Time open_until{}, rest_until{}, probe_until{}, decided_at{};
    bool probing = false;
    int failures_in_a_row = 0;
    std::chrono::seconds cooldown{0};
    std::deque<Attempt> recent;  // at most kRecent, of the last 60 s
    std::optional<double> latency_p50_ms;
    double failure_rate = 0;
  };

  Breaker state_of(const Entry& entry, Time now) const;
  void note(Entry& entry, Time now, bool failed);
  static bool too_many(const Entry& entry);
  void open(Entry& entry, Time now);
  static void decide(Entry& entry, Time now, Breaker breaker);
  // Changes an entry, and tells of what was decided by that.
  void judge(const DeploymentKey& deployment, const std::function<void(Entry&)>& change);

  const Clock& clock_;
  std::function<void(const DeploymentKey&, const Verdict&)> callback_;
  mutable std::mutex mutex_;
  std::map<DeploymentKey, Entry> entries_;
};

}  // namespace sandgate
