#include "gateway/sandboxes/upkeep/earlier_ends.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLookPause{20};

// Lets the next caller look once it is gone.
struct LookUnderWay {
  explicit LookUnderWay(std::atomic<bool>& flag) : looking(flag) {}
  ~LookUnderWay() { looking = false; }
  LookUnderWay(const LookUnderWay&) = delete;
  LookUnderWay& operator=(const LookUnderWay&) = delete;

  std::atomic<bool>& looking;
};

}  // namespace

bool EarlierEnds::is_recent() const {
  const auto called_at = called_at_.load();
  return called_at != std::chrono::steady_clock::time_point() &&
         std::chrono::steady_clock::now() - called_at < options_.gap;
}

void EarlierEnds::note_call() { called_at_ = std::chrono::steady_clock::now(); }

Task<void> EarlierEnds::note() {
  if (!options_.has_machine) co_return;
  for (std::chrono::milliseconds waited{0}; !is_recent(); waited += kLookPause) {
    if (waited >= options_.patience) co_return;
    if (looking_.exchange(true)) {
      co_await sleep_for(kLookPause);
      continue;
    }
    const LookUnderWay look(looking_);
    co_await reconciler_.note_earlier_ends(options_.start);
    note_call();
  }
  note_call();
}

}  // namespace sandgate
