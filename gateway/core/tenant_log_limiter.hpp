#pragma once
#include <memory>
#include <optional>
#include <string_view>

#include "gateway/core/bounded_map.hpp"
#include "gateway/core/log_rate_limiter.hpp"

namespace sandgate {

// A LogRateLimiter for each tenant, so that what one of them causes leaves out no line about
// another. Thread-safe.
class TenantLogLimiter {
 public:
  explicit TenantLogLimiter(int most) : most_(most), tenants_(kTenants) {}

  // As LogRateLimiter::next(). All who are no tenant share the empty id.
  std::optional<uint64_t> next(std::string_view tenant,
                               LogRateLimiter::Instant now = std::chrono::steady_clock::now()) {
    const auto own = tenants_.with(
        tenant, [this] { return std::make_shared<LogRateLimiter>(most_); },
        [](const auto& there) { return there; });
    return own->next(now);
  }

 private:
  static constexpr size_t kTenants = 10'000;  // a tenant that is evicted begins anew

  const int most_;
  BoundedMap<std::shared_ptr<LogRateLimiter>> tenants_;
};

}  // namespace sandgate
