#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace sandgate {

// Limits the concurrent reports per tenant, so that one tenant cannot occupy all report
// connections. Thread-safe.
class ReportPlaces {
 public:
  explicit ReportPlaces(size_t most = 8) : most_(most) {}

  // Takes a place and returns a token that holds it. An empty `whose` (no particular tenant) is not
  // limited. Throws Error(rate_limited) with retry_after when all places are taken.
  std::shared_ptr<void> take(const std::string& whose);

 private:
  struct Taken {
    std::mutex mutex;
    std::map<std::string, size_t> count;
  };

  const size_t most_;
  const std::shared_ptr<Taken> taken_ = std::make_shared<Taken>();
};

}  // namespace sandgate
