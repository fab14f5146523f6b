#include "gateway/sandboxes/head_starts.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr size_t kTenantsBeforeForgetting = 1024;

}  // namespace

std::shared_ptr<void> HeadStarts::take(const TenantId& tenant, const SandboxId& sandbox,
                                       Instant now) {
  std::lock_guard lock(mutex_);
  if (tenants_.size() >= kTenantsBeforeForgetting) forget_rested(now);
  Tenant& one = tenants_[tenant.value];
  if (one.under_way >= kAtOnce || std::max(one.rests_until, all_rest_until_) > now) return nullptr;
  ++one.under_way;
  sandboxes_.insert(sandbox.value);
  auto give_back = [self = shared_from_this(), tenant, sandbox](void*) {
    self->give_back(tenant, sandbox);
  };
  return std::shared_ptr<void>(this, std::move(give_back));
}

void HeadStarts::refused(const TenantId& tenant, Instant now) {
  std::lock_guard lock(mutex_);
  tenants_[tenant.value].rests_until = now + kRest;
}

void HeadStarts::not_written(Instant now) {
  std::lock_guard lock(mutex_);
  all_rest_until_ = now + kRest;
}

bool HeadStarts::holds(const SandboxId& sandbox) const {
  std::lock_guard lock(mutex_);
  return sandboxes_.contains(sandbox.value);
}

void HeadStarts::give_back(const TenantId& tenant, const SandboxId& sandbox) {
  std::lock_guard lock(mutex_);
  sandboxes_.erase(sandbox.value);
  --tenants_[tenant.value].under_way;
}

void HeadStarts::forget_rested(Instant now) {
  std::erase_if(tenants_, [&](const auto& entry) {
    return entry.second.under_way == 0 && entry.second.rests_until <= now;
  });
}

}  // namespace sandgate
