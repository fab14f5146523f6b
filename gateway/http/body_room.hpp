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
// outlive its seats.
class BodyRoom {
 public:
  struct Options {
    size_t free = 64 << 10;  // bodies up to this size are not counted
    size_t all = 512u << 20;
    size_t of_one = 192u << 20;  // limit per tenant
  };
  BodyRoom() : BodyRoom(Options()) {}
  explicit BodyRoom(Options options) : options_(options), tenants_(kTenants) {}

  // Whether a body of this length (empty: unknown) needs a seat.
  bool counts(std::optional<uint64_t> length) const { return !length || *length > options_.free; }

  // The share of one body; its destructor returns the share.
  class Seat {
   public:
    Seat(BodyRoom& room, std::string tenant) : room_(room), tenant_(std::move(tenant)) {}
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // Raises the share to `bytes` in total. Throws Error(rate_limited) if the tenant's limit is
    // reached and Error(unavailable) if the total is; both with retry_after.
    void grow_to(size_t bytes);
    // Like grow_to(), but returns false on failure and leaves the share unchanged.
    bool try_grow_to(size_t bytes) { return !take(bytes); }

   private:
    // Returns the reason for a refusal, or empty.
    std::optional<ErrorCode> take(size_t bytes);

    BodyRoom& room_;
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
