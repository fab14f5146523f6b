#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate::api {

// A mutex per key. Thread-safe; must outlive what it returns.
class KeyedMutex {
 public:
  // The lock, held while the handle lives; null while somebody else has it.
  std::shared_ptr<void> try_lock(const std::string& key);
  // Waits for the lock. Throws Error(conflict) after `patience`.
  Task<std::shared_ptr<void>> lock(std::string key, std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

}  // namespace sandgate::api
