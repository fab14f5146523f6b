#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace sandgate {

// A mutex per key, granted in the order of the requests. Thread-safe.
class KeyedTicketLock {
 public:
  // A place in the queue of `key`, held for the object's lifetime. `owner` must outlive it.
  class Ticket {
   public:
    Ticket(KeyedTicketLock& owner, std::string key) : owner_(owner), key_(std::move(key)) {
      std::lock_guard lock(owner_.mutex_);
      number_ = ++owner_.last_;
      owner_.waiting_[key_].push_back(number_);
    }
    ~Ticket() {
      std::lock_guard lock(owner_.mutex_);
      auto& queue = owner_.waiting_[key_];
      std::erase(queue, number_);
      if (queue.empty()) owner_.waiting_.erase(key_);
    }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

    bool is_holder() const {
      std::lock_guard lock(owner_.mutex_);
      return owner_.waiting_[key_].front() == number_;
    }

   private:
    KeyedTicketLock& owner_;
    const std::string key_;
    uint64_t number_ = 0;
  };

 private:
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<std::string, std::deque<uint64_t>> waiting_;
};

}  // namespace sandgate
