#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

namespace sandgate {

// What a deployment's settings let us ask of its account; 0: no limit of ours.
struct AccountLimits {
  int64_t creates_per_minute = 0;
  int64_t creates_at_once = 0;
  bool operator==(const AccountLimits&) const = default;
};

// What is asked of one account at a vendor right now: its limits count per credential, however many
// deployments use it. In memory: each replica counts its own. Thread-safe; never awaited under.
class Account : public std::enable_shared_from_this<Account> {
 public:
  using Steady = std::chrono::steady_clock;

  // One create under way; ends with the object.
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

  // Whether take() would succeed, and what takes its place: an empty slot when it does not.
  bool is_free(const AccountLimits& limits, Steady::time_point now = Steady::now()) const;
  Slot take(const AccountLimits& limits, Steady::time_point now = Steady::now());
  // The vendor asked to be left alone: no deployment of the account is tried for so long, five
  // minutes at most.
  void rest(std::chrono::milliseconds duration, Steady::time_point now = Steady::now());

 private:
  bool is_free_locked(const AccountLimits& limits, Steady::time_point now) const;

  mutable std::mutex mutex_;
  int64_t under_way_ = 0;
  std::deque<Steady::time_point> started_;  // the latest, at most kRemembered
  Steady::time_point rest_until_{};
};

}  // namespace sandgate
