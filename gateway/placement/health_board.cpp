#include "gateway/placement/health_board.hpp"

#include <algorithm>
#include <cmath>

#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

constexpr Words kBreakerWords({Word{Breaker::closed, "closed"}, Word{Breaker::open, "open"},
                               Word{Breaker::half_open, "half_open"}});

constexpr std::chrono::seconds kWindow{60};
constexpr std::chrono::seconds kFirstCooldown{30}, kLongestCooldown{300};
constexpr std::chrono::seconds kProbeTimeout{60};  // after which an unreported probe is given up
constexpr std::chrono::seconds kLongestRest{300};
constexpr int kFailuresInARow = 5;
constexpr size_t kEnoughAttempts = 10, kRecent = 256, kImages = 100;
constexpr double kFailureWeight = 0.1;
// A fixed step towards each sample, so that the estimate settles at the median.
constexpr double kMedianStep = 0.1;

bool counts(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout ||
         code == ErrorCode::internal;
}

}  // namespace

std::optional<int64_t> Health::whole_latency_ms() const {
  if (!latency_p50_ms) return std::nullopt;
  return std::max<int64_t>(1, std::llround(*latency_p50_ms));
}

std::string_view to_string(Breaker breaker) { return kBreakerWords.of(breaker); }

void HealthBoard::on_change(std::function<void(const DeploymentKey&, const Verdict&)> callback) {
  callback_ = std::move(callback);
}

void HealthBoard::forget_unless(const std::function<bool(const DeploymentKey&)>& exists) {
  creates_.forget_unless(exists);
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return !exists(entry.first); });
}

Breaker HealthBoard::state_of(const Entry& entry, Time now) const {
  if (entry.breaker == Breaker::closed) return Breaker::closed;
  if (now < entry.open_until) return Breaker::open;
  // While its probe is under way, a half-open breaker admits nothing else.
  return entry.probing && now < entry.probe_until ? Breaker::open : Breaker::half_open;
}

Health HealthBoard::health_of(const DeploymentKey& deployment) const {
  const Time now = clock_.now();
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(deployment);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  return {.breaker = state_of(entry, now),
          .resting = now < entry.rest_until,
          .rest_left = std::chrono::ceil<std::chrono::milliseconds>(
              std::max(entry.rest_until - now, Time::duration::zero())),
          .latency_p50_ms = entry.latency_p50_ms,
          .failure_rate = entry.failure_rate};
}

bool HealthBoard::admit(const DeploymentKey& deployment) {
  const Time now = clock_.now();
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[deployment];
  const Breaker state = state_of(entry, now);
  if (state == Breaker::open) return false;
  if (state == Breaker::half_open) {
    entry.breaker = Breaker::half_open;
    entry.probing = true;
    entry.probe_until = now + kProbeTimeout;
  }
  return true;
}

void HealthBoard::withdrawn(const DeploymentKey& deployment) {
  std::lock_guard lock(mutex_);
  entries_[deployment].probing = false;
}

void HealthBoard::note(Entry& entry, Time now, bool failed) {
  entry.recent.push_back({now, failed});
  while (entry.recent.size() > kRecent || entry.recent.front().at < now - kWindow)
    entry.recent.pop_front();
  entry.failure_rate += kFailureWeight * ((failed ? 1.0 : 0.0) - entry.failure_rate);
  entry.failures_in_a_row = failed ? entry.failures_in_a_row + 1 : 0;
}

bool HealthBoard::too_many(const Entry& entry) {
  if (entry.failures_in_a_row >= kFailuresInARow) return true;
  if (entry.recent.size() < kEnoughAttempts) return false;
  const auto failures = std::count_if(entry.recent.begin(), entry.recent.end(),
                                      [](const Attempt& one) { return one.failed; });
  return static_cast<size_t>(failures) * 2 > entry.recent.size();
}

void HealthBoard::decide(Entry& entry, Time now, Breaker breaker) {
  entry.breaker = breaker;
  entry.probing = false;
  entry.recent.clear();
  entry.failures_in_a_row = 0;
  entry.decided_at = std::max(now, entry.decided_at + std::chrono::microseconds(1));
}

void HealthBoard::open(Entry& entry, Time now) {
  // A reopening soon after a good probe continues the same outage; otherwise an intermittent
  // backend would be tried at the shortest interval forever.
  const bool same = entry.breaker == Breaker::half_open || now < entry.decided_at + kWindow;
  entry.cooldown = same && entry.cooldown.count() > 0
                       ? std::min(entry.cooldown * 2, kLongestCooldown)
                       : kFirstCooldown;
  entry.open_until = now + entry.cooldown;
  decide(entry, now, Breaker::open);
}

bool HealthBoard::is_new_image(const DeploymentKey& deployment, const std::string& image) const {
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(deployment);
  if (found == entries_.end() || image.empty()) return false;
  const auto& images = found->second.images;
  return !images.empty() && !images.contains(image);
}

void HealthBoard::succeeded(const DeploymentKey& deployment, std::chrono::milliseconds took,
                            const std::string& image) {
  creates_.count(deployment, std::nullopt);
  const Time now = clock_.now();
  update(deployment, [&](Entry& entry) {
    if (entry.images.size() >= kImages && !entry.images.contains(image)) entry.images.clear();
    if (!image.empty()) entry.images.insert(image);
    if (entry.breaker == Breaker::half_open) decide(entry, now, Breaker::closed);
    // An attempt that was under way when the breaker opened does not close it.
    if (entry.breaker == Breaker::closed) note(entry, now, /*failed=*/false);
    const double sample = static_cast<double>(took.count());
    if (!entry.latency_p50_ms)
      entry.latency_p50_ms = sample;
    else
      *entry.latency_p50_ms +=
          kMedianStep * std::clamp(sample - *entry.latency_p50_ms, -*entry.latency_p50_ms - 1,
                                   *entry.latency_p50_ms + 1);
  });
}

void HealthBoard::failed(const DeploymentKey& deployment, const Error& error) {
  creates_.count(deployment, error.code);
  const Time now = clock_.now();
  update(deployment, [&](Entry& entry) {
    if (error.retry_after) {
      const auto rest = std::min<std::chrono::milliseconds>(*error.retry_after, kLongestRest);
      entry.rest_until = std::max(entry.rest_until, now + rest);
    }
    if (counts(error.code)) {
      note(entry, now, /*failed=*/true);
      const bool probe_failed = entry.breaker == Breaker::half_open;
      const bool was_open = entry.breaker == Breaker::open;
      if (!was_open && (probe_failed || are_credentials_refused(error) || too_many(entry)))
        open(entry, now);
    } else if (entry.breaker == Breaker::half_open) {
      decide(entry, now, Breaker::closed);
    }
  });
}

void HealthBoard::recovered(const DeploymentKey& deployment) {
  const Time now = clock_.now();
  update(deployment, [&](Entry& entry) {
    Entry fresh;
    fresh.latency_p50_ms = entry.latency_p50_ms;
    fresh.decided_at = entry.decided_at;
    fresh.images = std::move(entry.images);
    if (entry.breaker != Breaker::closed) decide(fresh, now, Breaker::closed);
    entry = std::move(fresh);
  });
}

void HealthBoard::render(MetricText& out, const std::vector<DeploymentKey>& deployments) const {
  std::map<std::string, uint64_t> broken;
  for (const DeploymentKey& one : deployments)
    broken[deployment_label(one)] += health_of(one).breaker == Breaker::closed ? 0 : 1;
  out.begin("sandgate_breakers_open", "gauge",
            "1: the deployment's breaker is open or half-open. Of tenants' own: how many are.");
  for (const auto& [label, count] : broken) out.sample("sandgate_breakers_open", label, count);
  creates_.render(out);
}

void HealthBoard::adopt(const DeploymentKey& deployment, const Verdict& verdict) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[deployment];
  if (verdict.at <= entry.decided_at) return;
  decide(entry, verdict.at, verdict.breaker);
  entry.open_until = verdict.open_until;
  entry.cooldown = verdict.cooldown;
}

void HealthBoard::update(const DeploymentKey& deployment,
                         const std::function<void(Entry&)>& change) {
  std::optional<Verdict> verdict;
  {
    std::lock_guard lock(mutex_);
    Entry& entry = entries_[deployment];
    const Time decided_before = entry.decided_at;
    const bool was_closed = entry.breaker == Breaker::closed;
    change(entry);
    if (entry.decided_at != decided_before)
      verdict = Verdict{.breaker = entry.breaker,
                        .open_until = entry.open_until,
                        .cooldown = entry.cooldown,
                        .at = entry.decided_at,
                        .turned = was_closed != (entry.breaker == Breaker::closed)};
  }
  if (callback_ && verdict) callback_(deployment, *verdict);
}

}  // namespace sandgate
