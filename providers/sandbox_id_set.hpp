#pragma once
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace sandgate {

// The backend ids of sandboxes that an adapter has created, found or perhaps started, for vendors
// without a list.
// Bounded: cleared when full, and refilled as sandboxes are found. Thread-safe.
class SandboxIdSet {
 public:
  void remember(const std::string& id) {
    std::lock_guard lock(mutex_);
    if (seen_.size() >= kMaxIds) seen_.clear();
    seen_.insert(id);
  }
  void forget(const std::string& id) {
    std::lock_guard lock(mutex_);
    seen_.erase(id);
  }
  std::vector<std::string> all() const {
    std::lock_guard lock(mutex_);
    return {seen_.begin(), seen_.end()};
  }

 private:
  static constexpr size_t kMaxIds = 20'000;

  mutable std::mutex mutex_;
  std::set<std::string> seen_;
};

// For a vendor that starts a sandbox for any id that it is asked about: one request. Unless it is
// answered the id is remembered, since nobody else knows of what it may have started.
class StartingRequest {
 public:
  StartingRequest(SandboxIdSet& seen, std::string id) : seen_(seen), id_(std::move(id)) {}
  StartingRequest(const StartingRequest&) = delete;
  ~StartingRequest() {
    if (!answered_) seen_.remember(id_);
  }
  void answered() { answered_ = true; }

 private:
  SandboxIdSet& seen_;
  const std::string id_;
  bool answered_ = false;
};

}  // namespace sandgate
