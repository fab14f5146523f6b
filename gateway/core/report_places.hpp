#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace sandgate {

// How many reports of each tenant are under way: one who asks for many at once leaves the others
// their places at the database. Thread-safe.
class ReportPlaces {
 public:
  explicit ReportPlaces(size_t most = 8) : most_(most) {}

  // A place for as long as what it returns is held. "" is nobody's in particular, who always has
  // one. Throws Error(rate_limited) with retry_after.
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
