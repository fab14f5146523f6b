#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gateway/core/error.hpp"
#include "gateway/core/time.hpp"
#include "gateway/placement/deployment_key.hpp"
#include "gateway/placement/deployment_metrics.hpp"

namespace sandgate {

enum class Breaker { closed, open, half_open };
std::string_view to_string(Breaker breaker);

// A deployment's health, from the creates tried on it.
struct Health {
  Breaker breaker = Breaker::closed;
  bool resting = false;  // within a Retry-After
  std::chrono::milliseconds rest_left{0};  // while resting
  std::optional<double> latency_p50_ms;  // empty: never measured
  double failure_rate = 0;  // EWMA, 0..1

  // The latency as documents show it: whole milliseconds, of which what was measured has at
  // least 1.
  std::optional<int64_t> whole_latency_ms() const;
};

// A decision of a circuit breaker.
struct Verdict {
  Breaker breaker = Breaker::closed;  // open or closed
  Time open_until{};
  std::chrono::seconds cooldown{0};
  Time at{};
  bool turned = false;  // from closed to open or back; false when a probe failed
};

// Circuit breakers and latencies per deployment, in memory. Each replica judges its own attempts
// and adopts newer verdicts of others (SharedBreakers). A breaker opens after 5 failures in a row,
// when over half of at least 10 attempts in 60 s failed, or at once when the backend refuses our
// credentials. It stays open for 30 s, doubling up to 5 min when it reopens within a minute or its
// probe failed; then one probe passes. Thread-safe; the mutex is never held across co_await.
class HealthBoard {
 public:
  explicit HealthBoard(const Clock& clock) : clock_(clock) {}

  // Called outside the lock with each verdict of this replica. Set before use.
  void on_change(std::function<void(const DeploymentKey&, const Verdict&)> callback);

  Health health_of(const DeploymentKey& deployment) const;
  // Asks for one attempt: false while open, and while half-open except for the one probe. Every
  // admitted attempt has to end in exactly one of the three calls below.
  bool admit(const DeploymentKey& deployment);
  void withdrawn(const DeploymentKey& deployment);  // the attempt was not sent
  void succeeded(const DeploymentKey& deployment, std::chrono::milliseconds took,
                 const std::string& image = "");
  // Only unavailable, timeout and internal count as failures; other errors show that the backend
  // works. A retry_after marks the deployment as resting, for at most 5 min.
  void failed(const DeploymentKey& deployment, const Error& error);
  // Whether creates succeeded there, but none from this image: how long it takes to fetch it is
  // then a matter of who chose it. False for an empty name.
  bool is_new_image(const DeploymentKey& deployment, const std::string& image) const;
  // Clears the failures of a deployment that is known to be back after an absence.
  void recovered(const DeploymentKey& deployment);
  // Forgets the deployments for which `exists` is false.
  void forget_unless(const std::function<bool(const DeploymentKey&)>& exists);
  // Writes the breakers of these deployments and the outcomes of the creates tried.
  void render(MetricText& out, const std::vector<DeploymentKey>& deployments) const;
  // Adopts another replica's verdict unless this board decided later.
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
    std::set<std::string> images;  // of creates that succeeded, at most kImages
  };

  Breaker state_of(const Entry& entry, Time now) const;
  void note(Entry& entry, Time now, bool failed);
  static bool too_many(const Entry& entry);
  void open(Entry& entry, Time now);
  static void decide(Entry& entry, Time now, Breaker breaker);
  // Changes an entry and reports a resulting verdict to the callback.
  void update(const DeploymentKey& deployment, const std::function<void(Entry&)>& change);

  const Clock& clock_;
  std::function<void(const DeploymentKey&, const Verdict&)> callback_;
  mutable std::mutex mutex_;
  std::map<DeploymentKey, Entry> entries_;
  CreateCounts creates_;
};

}  // namespace sandgate
