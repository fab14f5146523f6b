#pragma once
#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "local/image/config.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// The properties that are fixed when a sandbox of the warm pool starts. Everything else is set when
// it is assigned to its owner.
struct WarmClass {
  std::string image, image_digest;
  Resources resources;
  bool allow_debug = false;
  ImageConfig config;  // an image of the same digest may have another

  auto key() const {
    return std::tie(image, image_digest, resources.milli_vcpu, resources.memory_mib,
                    resources.disk_gib, resources.processes, allow_debug, config);
  }
  bool operator<(const WarmClass& other) const { return key() < other.key(); }
};

// Bookkeeping of the warm pool: which started sandboxes wait for an owner, and how many of each
// class should. The target of a class is the number of requests in the last five seconds if that is
// 3 or more, at least `floor` for ten minutes after the last request, and at most `most` over all
// classes. The caller starts and ends the sandboxes. Thread-safe; times are of a steady clock.
class WarmPool {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  // After a request its owner is about to use the machine, so refilling is delayed. While a class
  // has at least half of its target, the next warm sandbox is made this long after the last
  // request.
  static constexpr std::chrono::milliseconds kQuietPeriod{20};
  // While it has fewer, the delay is this divided by the number of processors; without any warm
  // sandbox there is no delay. 24 ms of processor time is what a create, its first exec and its
  // delete take (12 ms on two processors). Until this long after the last request of any class, one
  // warm sandbox is made at a time.
  static constexpr std::chrono::milliseconds kRefillDelay{24};

  explicit WarmPool(size_t most, size_t floor = 0,
                    size_t processors = std::thread::hardware_concurrency())
      : most_(most), floor_(floor), refill_delay_(kRefillDelay / std::max<size_t>(processors, 1)) {}

  // Records a request for a sandbox of this class. Removes and returns its oldest warm sandbox, if
  // any.
  std::optional<std::string> take(const WarmClass& wanted, Instant now);
  // Returns the class that lacks most warm sandboxes and may be made now, beside those that are
  // being made. Each call must be followed by add() or back_off().
  std::optional<WarmClass> next_to_make(Instant now);
  void add(const WarmClass& made, std::string warm);
  // A warm sandbox could not be made: backs off from the class, from 1 s, doubling up to 64 s.
  void back_off(const WarmClass& failed, Instant now);
  bool lacks(Instant now) const;  // whether some class has fewer warm sandboxes than its target
  // Removes and returns warm sandboxes above their class's target, for the caller to end.
  std::vector<std::string> surplus(Instant now);
  // Removes and returns all warm sandboxes of an image, for the caller to end.
  std::vector<std::string> drop_image(const std::string& image);
  void forget(const std::string& warm);  // removes a warm sandbox that has ended by itself
  size_t waiting() const;

 private:
  struct Class {
    std::deque<std::string> warm;  // oldest first
    std::deque<Instant> asked;  // within the last window, `most` at most
    Instant last_asked;
    size_t being_made = 0;
    int failures = 0;
    Instant backoff_until;
  };
  size_t target(const Class& one, Instant now) const;
  size_t missing(const Class& one, Instant now) const;
  bool is_quiet(const Class& one, Instant now) const;  // see kQuietPeriod and kRefillDelay
  size_t being_made() const;
  size_t count() const;

  const size_t most_, floor_;
  const Instant::duration refill_delay_;
  mutable std::mutex mutex_;
  std::map<WarmClass, Class> classes_;
  Instant last_asked_;
};

}  // namespace sandgate
