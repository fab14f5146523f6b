#pragma once
#include <atomic>

#include "gateway/sandboxes/upkeep/reconciler.hpp"

namespace sandgate {

// Writes down what ended on our own machine while nobody here looked: before the start, or while
// this process or the database stood still. The machine knows when that was, but usage that is
// booked before it is asked is charged beyond that.
class EarlierEnds {
 public:
  struct Options {
    bool has_machine = true;  // else there is nothing to ask
    std::chrono::milliseconds gap{30'000};  // between two calls, after which it looks again
    std::chrono::milliseconds start{30'000};  // for the machine's first answer after a start
    std::chrono::milliseconds patience{2'000};  // for a look of another caller
  };
  EarlierEnds(Reconciler& reconciler, Options options)
      : reconciler_(reconciler), options_(options) {}

  // To be awaited before usage is booked, more often than the gap. A machine that does not answer
  // is not waited for. Throws Error(unavailable) while the database does not answer. Thread-safe.
  Task<void> note();

 private:
  bool is_recent() const;
  void note_call();

  Reconciler& reconciler_;
  const Options options_;
  std::atomic<bool> looking_{false};
  std::atomic<std::chrono::steady_clock::time_point> called_at_{};  // of the last that was told
};

}  // namespace sandgate
