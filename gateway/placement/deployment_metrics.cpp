#include "gateway/placement/deployment_metrics.hpp"

namespace sandgate {
namespace {

constexpr const char* kCreates = "sandgate_creates_total";

template <class Counts>
void render_creates(MetricText& out, const DeploymentKey& deployment, const Counts& counts) {
  for (const auto& [outcome, count] : counts)
    out.sample(kCreates, deployment_label(deployment) + ",outcome=\"" + std::string(outcome) + "\"",
               count);
}

}  // namespace

std::string deployment_label(const DeploymentKey& key) {
  return "deployment=\"" + (key.tenant ? "(tenants)" : key.name) + "\"";
}

void CreateCounts::count(const DeploymentKey& deployment, std::optional<ErrorCode> failure) {
  std::lock_guard lock(mutex_);
  auto& counts = deployment.tenant ? tenants_ : counts_[deployment.name];
  ++counts[failure ? to_string(*failure) : "created"];
}

void CreateCounts::forget_unless(const std::function<bool(const DeploymentKey&)>& exists) {
  std::lock_guard lock(mutex_);
  std::erase_if(counts_, [&](const auto& entry) { return !exists({entry.first}); });
}

void CreateCounts::render(MetricText& out) const {
  out.begin(kCreates, "counter", "Creates tried at a deployment, by outcome.");
  std::lock_guard lock(mutex_);
  for (const auto& [name, counts] : counts_) render_creates(out, {name}, counts);
  render_creates(out, {.name = "", .tenant = TenantId()}, tenants_);
}

}  // namespace sandgate
