#include "gateway/sandboxes/creating/optimistic_create_limiter.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr size_t kTenantsBeforeForgetting = 1024;

}  // namespace

std::shared_ptr<void> OptimisticCreateLimiter::take(const TenantId& tenant,
                                                    const SandboxId& sandbox, Instant now) {
  std::lock_guard lock(mutex_);
  if (tenants_.size() >= kTenantsBeforeForgetting) forget_idle(now);
  Tenant& one = tenants_[tenant.value];
  if (one.under_way >= kAtOnce || std::max(one.backoff_until, all_backoff_until_) > now)
    return nullptr;
  ++one.under_way;
  sandboxes_.insert(sandbox.value);
  auto give_back = [self = shared_from_this(), tenant, sandbox](void*) {
    self->give_back(tenant, sandbox);
  };
  return std::shared_ptr<void>(this, std::move(give_back));
}

void OptimisticCreateLimiter::refused(const TenantId& tenant, Instant now) {
  std::lock_guard lock(mutex_);
  tenants_[tenant.value].backoff_until = now + kBackoff;
}

void OptimisticCreateLimiter::not_written(Instant now) {
  std::lock_guard lock(mutex_);
  all_backoff_until_ = now + kBackoff;
}

void OptimisticCreateLimiter::note_limits(const TenantId& tenant, Instant now) {
  std::lock_guard lock(mutex_);
  tenants_[tenant.value].has_limits_until = now + kBackoff;
}

bool OptimisticCreateLimiter::has_limits(const TenantId& tenant, Instant now) const {
  std::lock_guard lock(mutex_);
  const auto found = tenants_.find(tenant.value);
  return found != tenants_.end() && found->second.has_limits_until > now;
}

std::shared_ptr<void> OptimisticCreateLimiter::hold_connection(const TenantId& tenant,
                                                               size_t most) {
  std::lock_guard lock(mutex_);
  const auto found = tenants_.find(tenant.value);
  const bool is_alone = found != tenants_.end() && found->second.under_way == 1;
  if (!is_alone || connections_ >= most) return nullptr;
  ++connections_;
  return std::shared_ptr<void>(this, [self = shared_from_this()](void*) {
    std::lock_guard relock(self->mutex_);
    --self->connections_;
  });
}

bool OptimisticCreateLimiter::holds(const SandboxId& sandbox) const {
  std::lock_guard lock(mutex_);
  return sandboxes_.contains(sandbox.value);
}

void OptimisticCreateLimiter::give_back(const TenantId& tenant, const SandboxId& sandbox) {
  std::lock_guard lock(mutex_);
  sandboxes_.erase(sandbox.value);
  --tenants_[tenant.value].under_way;
}

void OptimisticCreateLimiter::forget_idle(Instant now) {
  std::erase_if(tenants_, [&](const auto& entry) {
    const Tenant& tenant = entry.second;
    return tenant.under_way == 0 && std::max(tenant.backoff_until, tenant.has_limits_until) <= now;
  });
}

}  // namespace sandgate
