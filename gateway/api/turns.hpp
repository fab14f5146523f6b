#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate::api {

// Lets one caller at a time work for a key. Thread-safe; must outlive what it returns.
class Turns {
 public:
  // The turn, while the handle lives; null while somebody else has it.
  std::shared_ptr<void> take(const std::string& key);
  // Waits for the turn. Throws Error(conflict) after `patience`.
  Task<std::shared_ptr<void>> wait(std::string key, std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

}  // namespace sandgate::api
