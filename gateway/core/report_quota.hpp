#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// Limits the concurrent reports per tenant, so that one tenant cannot occupy all report
// connections: of the few that it may have under way, `max_connections` use a connection.
// Thread-safe.
class ReportQuota {
 public:
  explicit ReportQuota(size_t max_connections) : max_connections_(max_connections) {}

  // Counts a report as under way until the returned token is destroyed. An empty `whose` (no
  // particular tenant) is not limited. Throws Error(rate_limited) with retry_after at the limit.
  std::shared_ptr<void> acquire(const std::string& whose);
  // For who holds such a token: waits until the tenant may use one more connection. Hold the token
  // during the call of Database::report(). Throws as acquire() does after 30 seconds.
  Task<std::shared_ptr<void>> wait_for_connection(std::string whose);

 private:
  struct Taken {
    std::mutex mutex;
    std::map<std::string, size_t> count;
  };
  // Empty when `most` are taken.
  static std::shared_ptr<void> try_acquire(const std::shared_ptr<Taken>& taken,
                                           const std::string& whose, size_t most);

  const size_t max_connections_;
  const std::shared_ptr<Taken> pending_ = std::make_shared<Taken>();
  const std::shared_ptr<Taken> connections_ = std::make_shared<Taken>();
};

}  // namespace sandgate
