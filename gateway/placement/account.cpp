#include "gateway/placement/account.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr std::chrono::minutes kMinute{1}, kLongestAccountBackoff{5};
constexpr size_t kRemembered = 10'000;  // no limit may be higher

}  // namespace

Account::Slot& Account::Slot::operator=(Slot&& other) {
  std::swap(account_, other.account_);
  return *this;
}

Account::Slot::~Slot() {
  if (!account_) return;
  std::lock_guard lock(account_->mutex_);
  --account_->under_way_;
}

bool Account::is_free_locked(const AccountLimits& limits, Steady::time_point now) const {
  if (now < backoff_until_) return false;
  if (limits.creates_at_once > 0 && under_way_ >= limits.creates_at_once) return false;
  if (limits.creates_per_minute == 0) return true;
  const auto recent = std::lower_bound(started_.begin(), started_.end(), now - kMinute);
  return started_.end() - recent < limits.creates_per_minute;
}

bool Account::is_free(const AccountLimits& limits, Steady::time_point now) const {
  std::lock_guard lock(mutex_);
  return is_free_locked(limits, now);
}

Account::Slot Account::take(const AccountLimits& limits, Steady::time_point now) {
  std::lock_guard lock(mutex_);
  if (!is_free_locked(limits, now)) return {};
  ++under_way_;
  started_.push_back(now);
  if (started_.size() > kRemembered) started_.pop_front();
  return Slot(shared_from_this());
}

void Account::back_off(std::chrono::milliseconds duration, Steady::time_point now) {
  std::lock_guard lock(mutex_);
  const auto until = now + std::min<std::chrono::milliseconds>(duration, kLongestAccountBackoff);
  backoff_until_ = std::max(backoff_until_, until);
}

std::chrono::milliseconds Account::backoff_left(Steady::time_point now) const {
  std::lock_guard lock(mutex_);
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::max(backoff_until_ - now, Steady::duration::zero()));
}

}  // namespace sandgate
