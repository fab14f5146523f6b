#include "gateway/http/places.hpp"

namespace sandgate::http {
namespace {

bool may_hold(size_t own, size_t all, size_t most, Requester requester) {
  const size_t free = most > all ? most - all : 0;
  return own == 1 || own <= (requester == Requester::caller ? free : free / 4 * 3);
}

}  // namespace

std::shared_ptr<void> Places::take(const TenantId& tenant, Requester requester) {
  Counts::value_type* own = nullptr;
  {
    const std::lock_guard lock(mutex_);
    own = &*held_.try_emplace(tenant.value, 0).first;
    if (!may_hold(own->second + 1, all_ + 1, most_, requester)) return nullptr;
    ++own->second;
    ++all_;
  }
  return {own, [this](Counts::value_type* held) { leave(*held); }};
}

void Places::leave(Counts::value_type& own) {
  const std::lock_guard lock(mutex_);
  --all_;
  if (--own.second == 0) held_.erase(held_.find(own.first));
}

}  // namespace sandgate::http
