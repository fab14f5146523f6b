#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Limits the concurrent reports per tenant, so that one tenant cannot occupy all report
// connections: of the few that it may have under way, `at_work` use a connection. Thread-safe.
class ReportPlaces {
 public:
  explicit ReportPlaces(size_t at_work) : most_at_work_(at_work) {}

  // Takes a place among those under way and returns a token that holds it. An empty `whose` (no
  // particular tenant) is not limited. Throws Error(rate_limited) with retry_after when all places
  // are taken.
  std::shared_ptr<void> take(const std::string& whose);
  // For who has a place: waits until the tenant may use one more connection. Hold the token during
  // the call of Database::report(). Throws as take() does after 30 seconds.
  Task<std::shared_ptr<void>> turn(std::string whose);

 private:
  struct Taken {
    std::mutex mutex;
    std::map<std::string, size_t> count;
  };
  // Empty when `most` are taken.
  static std::shared_ptr<void> one_of(const std::shared_ptr<Taken>& taken, const std::string& whose,
                                      size_t most);

  const size_t most_at_work_;
  const std::shared_ptr<Taken> under_way_ = std::make_shared<Taken>();
  const std::shared_ptr<Taken> at_work_ = std::make_shared<Taken>();
};

}  // namespace sandgate
