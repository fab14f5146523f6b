#include "gateway/http/connection_quota.hpp"

namespace sandgate::http {
namespace {

bool may_hold(size_t own, size_t all, size_t most, Requester requester) {
  const size_t free = most > all ? most - all : 0;
  return own == 1 || own <= (requester == Requester::caller ? free : free / 4 * 3);
}

}  // namespace

std::shared_ptr<void> ConnectionQuota::acquire(const TenantId& tenant, Requester requester) {
  Counts::value_type* own = nullptr;
  {
    const std::lock_guard lock(mutex_);
    own = &*held_.try_emplace(tenant.value, 0).first;
    if (!may_hold(own->second + 1, all_ + 1, limit_, requester)) return nullptr;
    ++own->second;
    ++all_;
  }
  return {own, [this](Counts::value_type* held) { release(*held); }};
}

void ConnectionQuota::release(Counts::value_type& own) {
  const std::lock_guard lock(mutex_);
  --all_;
  if (--own.second == 0) held_.erase(held_.find(own.first));
}

}  // namespace sandgate::http
