#pragma once
#include <optional>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {

// Patience of a replica that meets a held lock: as short as a busy machine allows.
inline constexpr std::chrono::milliseconds kHasty{1000};

// Holds the locks that `query` takes until release() or this object's end. They are held when the
// constructor returns.
class HeldLock {
 public:
  HeldLock(World& world, const std::string& query)
      : connection_(world.database.url()), holding_(std::in_place, connection_) {
    holding_->exec(query);
  }
  void release() { holding_.reset(); }

 private:
  pqxx::connection connection_;
  std::optional<pqxx::work> holding_;
};

}  // namespace sandgate::test
