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

#include "providers/sandbox.hpp"

namespace sandgate {

// What a sandbox has to be started with; everything else is bound when it gets its owner.
struct SeatClass {
  std::string image, image_digest;
  Resources resources;
  bool allow_debug = false;

  auto key() const {
    return std::tie(image, image_digest, resources.milli_vcpu, resources.memory_mib,
                    resources.disk_gib, resources.processes, allow_debug);
  }
  bool operator<(const SeatClass& other) const { return key() < other.key(); }
};

// Which started sandboxes (seats) wait for an owner, and how many of each class should: in a rush
// as many as were asked for within three seconds, else `floor` for ten minutes after the last, and
// never more than `most` together. Only bookkeeping: making and ending them is its user's work.
// Thread-safe; times are of a steady clock.
class WarmPool {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  // Whoever was given a seat is about to use the machine: while half of a class's seats are there,
  // the next is made when nobody has asked for this long.
  static constexpr std::chrono::milliseconds kQuiet{20};
  // The same while any is there, shared by the machine's processors: where there are many, making
  // one is in nobody's way. From tests/bench: 24 processors' milliseconds are as long as a create
  // with its first exec and its delete on two of them.
  static constexpr std::chrono::milliseconds kBreath{24};

  explicit WarmPool(size_t most, size_t floor = 0,
                    size_t processors = std::thread::hardware_concurrency())
      : most_(most), floor_(floor), breath_(kBreath / std::max<size_t>(processors, 1)) {}

  // A sandbox of this class is asked for: the seat that waited longest, if one does.
  std::optional<std::string> take(const SeatClass& wanted, Instant now);
  // The class that lacks most and may be made now; it counts as being made until add() or
  // give_up().
  std::optional<SeatClass> next_to_make(Instant now);
  void add(const SeatClass& made, std::string seat);
  // It could not be made: the class rests, longer each time.
  void give_up(const SeatClass& failed, Instant now);
  bool lacks(Instant now) const;  // some class wants more seats than there are
  // Seats to be ended: those that too few ask for. They are no longer handed out.
  std::vector<std::string> surplus(Instant now);
  // Seats of an image that goes, likewise.
  std::vector<std::string> drop_image(const std::string& image);
  void forget(const std::string& seat);  // it ended by itself
  size_t waiting() const;

 private:
  struct Class {
    std::deque<std::string> seats;  // oldest first
    std::deque<Instant> asked;  // within the last window, `most` at most
    Instant last_asked;
    size_t being_made = 0;
    int failures = 0;
    Instant rests_until;
  };
  size_t target(const Class& one, Instant now) const;
  size_t missing(const Class& one, Instant now) const;
  bool is_quiet(const Class& one, Instant now) const;  // enough to make a seat
  size_t count() const;

  const size_t most_, floor_;
  const Instant::duration breath_;
  mutable std::mutex mutex_;
  std::map<SeatClass, Class> classes_;
};

}  // namespace sandgate
