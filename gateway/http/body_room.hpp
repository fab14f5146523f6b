#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/bounded_map.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::http {

// How much memory bodies may take that are read whole before their handler runs, or gathered whole
// before they are sent: small ones are bounded by the number of connections, large ones by this.
// Thread-safe; must outlive its seats.
class BodyRoom {
 public:
  struct Options {
    size_t free = 64 << 10;  // of each body: not counted
    size_t all = 512u << 20;
    size_t of_one = 192u << 20;  // tenant
  };
  BodyRoom() : BodyRoom(Options()) {}
  explicit BodyRoom(Options options) : options_(options), tenants_(kTenants) {}

  // Whether a body of that length (empty: not told) is to have a seat.
  bool counts(std::optional<uint64_t> length) const { return !length || *length > options_.free; }

  // What one body takes; gives it back when it goes.
  class Seat {
   public:
    Seat(BodyRoom& room, std::string tenant) : room_(room), tenant_(std::move(tenant)) {}
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // The body takes `bytes` from now on. Throws Error(rate_limited) when its tenant has no room
    // for more, Error(unavailable) when nobody has; both with retry_after.
    void grow_to(size_t bytes);
    // The same without throwing: false, and it takes what it took.
    bool try_grow_to(size_t bytes) { return !take(bytes); }

   private:
    // Why not, or nothing.
    std::optional<ErrorCode> take(size_t bytes);

    BodyRoom& room_;
    const std::string tenant_;
    std::shared_ptr<std::atomic<size_t>> of_tenant_;  // null until it is counted
    size_t taken_ = 0;
  };

 private:
  static constexpr size_t kTenants = 10'000;

  const Options options_;
  std::atomic<size_t> taken_{0};
  BoundedMap<std::shared_ptr<std::atomic<size_t>>> tenants_;
};

}  // namespace sandgate::http
