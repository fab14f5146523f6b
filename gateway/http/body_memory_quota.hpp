#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/bounded_map.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::http {

// A memory budget for bodies that are buffered whole before their handler runs or before they are
// sent. Small bodies are not counted: the number of connections bounds them. Thread-safe; must
// outlive its reservations.
class BodyMemoryQuota {
 public:
  struct Options {
    size_t uncounted = 64 << 10;  // bodies up to this size are not counted
    size_t total = 512u << 20;
    size_t per_tenant = 192u << 20;  // limit per tenant
  };
  BodyMemoryQuota() : BodyMemoryQuota(Options()) {}
  explicit BodyMemoryQuota(Options options) : options_(options), tenants_(kTenants) {}

  // Whether a body of this length (empty: unknown) needs a reservation.
  bool counts(std::optional<uint64_t> length) const {
    return !length || *length > options_.uncounted;
  }

  // The share of one body; its destructor returns the share.
  class Reservation {
   public:
    Reservation(BodyMemoryQuota& quota, std::string tenant)
        : quota_(quota), tenant_(std::move(tenant)) {}
    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    // Raises the share to `bytes` in total. Throws Error(rate_limited) if the tenant's limit is
    // reached and Error(unavailable) if the total is; both with retry_after.
    void grow_to(size_t bytes);
    // Like grow_to(), but returns false on failure and leaves the share unchanged.
    bool try_grow_to(size_t bytes) { return !take(bytes); }

   private:
    // Returns the reason for a refusal, or empty.
    std::optional<ErrorCode> take(size_t bytes);

    BodyMemoryQuota& quota_;
    const std::string tenant_;
    std::shared_ptr<std::atomic<size_t>> of_tenant_;  // null until first counted
    size_t taken_ = 0;
  };

 private:
  static constexpr size_t kTenants = 10'000;

  const Options options_;
  std::atomic<size_t> taken_{0};
  BoundedMap<std::shared_ptr<std::atomic<size_t>>> tenants_;
};

}  // namespace sandgate::http
