#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace sandgate {

// The configured limits of an account; 0: unlimited.
struct AccountLimits {
  int64_t creates_per_minute = 0;
  int64_t creates_at_once = 0;
  bool operator==(const AccountLimits&) const = default;
};

// Concurrency and rate limiter of one vendor account, shared by all deployments with its
// credentials, since vendors limit per credential. In memory: each replica counts its own creates.
// Thread-safe; the mutex is never held across co_await.
class Account : public std::enable_shared_from_this<Account> {
 public:
  using Steady = std::chrono::steady_clock;

  // One create under way, until destruction.
  class Slot {
   public:
    Slot() = default;
    explicit Slot(std::shared_ptr<Account> account) : account_(std::move(account)) {}
    Slot(Slot&&) = default;
    Slot& operator=(Slot&& other);
    ~Slot();
    explicit operator bool() const { return account_ != nullptr; }

   private:
    std::shared_ptr<Account> account_;
  };

  // is_free(): whether take() would succeed. take(): a slot; empty when a limit is reached.
  bool is_free(const AccountLimits& limits, Steady::time_point now = Steady::now()) const;
  Slot take(const AccountLimits& limits, Steady::time_point now = Steady::now());
  // After a vendor's Retry-After: take() fails for `duration`, five minutes at most.
  void back_off(std::chrono::milliseconds duration, Steady::time_point now = Steady::now());
  std::chrono::milliseconds backoff_left(Steady::time_point now = Steady::now()) const;  // 0: none

 private:
  bool is_free_locked(const AccountLimits& limits, Steady::time_point now) const;

  mutable std::mutex mutex_;
  int64_t under_way_ = 0;
  std::deque<Steady::time_point> started_;  // starts of the latest creates, at most kRemembered
  Steady::time_point backoff_until_{};
};

}  // namespace sandgate
