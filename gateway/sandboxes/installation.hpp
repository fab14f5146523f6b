#pragma once
#include <mutex>
#include <string>

#include "gateway/core/database.hpp"

namespace sandgate {

// Identifies this installation among those that share a vendor account. Thread-safe.
class Installation {
 public:
  // Call before anything is created.
  Task<void> read(Database& database) {
    auto ask = [](pqxx::work& tx) {
      return tx.exec1("SELECT id FROM installation")[0].as<std::string>();
    };
    auto id = co_await database.run(std::move(ask));
    std::lock_guard lock(mutex_);
    id_ = std::move(id);
  }
  // Empty before read().
  std::string id() const {
    std::lock_guard lock(mutex_);
    return id_;
  }

 private:
  mutable std::mutex mutex_;
  std::string id_;
};

}  // namespace sandgate
