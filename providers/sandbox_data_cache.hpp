#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace sandgate {

// A bounded cache of a vendor's data about sandboxes that seldom changes (address, token), keyed by
// backend id. Cleared when full, so a caller must be able to ask the vendor again; a caller that
// finds an entry stale forgets it. Thread-safe.
template <class T>
class SandboxDataCache {
 public:
  std::optional<T> find(const std::string& id) {
    std::lock_guard lock(mutex_);
    const auto found = known_.find(id);
    return found == known_.end() ? std::nullopt : std::optional<T>(found->second);
  }
  void remember(const std::string& id, T value) {
    std::lock_guard lock(mutex_);
    if (known_.size() >= kMaxSandboxes) known_.clear();
    known_.insert_or_assign(id, std::move(value));
  }
  void forget(const std::string& id) {
    std::lock_guard lock(mutex_);
    known_.erase(id);
  }

 private:
  static constexpr size_t kMaxSandboxes = 20'000;

  std::mutex mutex_;
  std::map<std::string, T> known_;
};

}  // namespace sandgate
