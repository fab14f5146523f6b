#include "gateway/sandboxes/ending/backend_first_ends.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/ending/measured_end.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kFinishTimeout{5};
constexpr std::chrono::milliseconds kEndPollPause{10};
constexpr int kMaxEndPolls = 500;

}  // namespace

bool BackendFirstEnds::suits(const SandboxRecord& record, const DeploymentPtr& deployment) {
  return deployment && deployment->descriptor.reports_final_usage && !record.backend_id.empty() &&
         (record.state == SandboxState::running || record.state == SandboxState::paused);
}

Task<std::optional<Meter::Measured>> BackendFirstEnds::finish(DeploymentPtr deployment,
                                                              SandboxRecord record,
                                                              const Clock& clock) {
  if (!suits(record, deployment)) co_return std::nullopt;
  auto finishing = deployment->backend->finish(record.backend_id);
  const auto outcome = co_await attempt_within(kFinishTimeout, std::move(finishing));
  const auto* counted = std::get_if<SandboxMetrics>(&outcome);
  if (!counted) co_return std::nullopt;
  co_return measured_end(*counted, clock.now());
}

std::shared_ptr<void> BackendFirstEnds::begin(const SandboxId& id, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  const auto place = under_way_.emplace(id.value, reason);
  return std::shared_ptr<void>(this, [this, place](void*) {
    const std::lock_guard relock(mutex_);
    under_way_.erase(place);
  });
}

bool BackendFirstEnds::has(const SandboxId& id) const {
  const std::lock_guard lock(mutex_);
  return under_way_.contains(id.value);
}

std::optional<std::string_view> BackendFirstEnds::reason_of(const SandboxId& id) const {
  const std::lock_guard lock(mutex_);
  const auto first = under_way_.lower_bound(id.value);
  if (first == under_way_.end() || first->first != id.value) return std::nullopt;
  return first->second;
}

bool BackendFirstEnds::is_only_one() const {
  const std::lock_guard lock(mutex_);
  return under_way_.size() == 1;
}

Task<void> BackendFirstEnds::wait_until_over(SandboxId id) const {
  for (int looks = 0; looks < kMaxEndPolls && has(id); ++looks) co_await sleep_for(kEndPollPause);
}

}  // namespace sandgate
