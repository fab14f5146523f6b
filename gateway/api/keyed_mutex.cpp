#include "gateway/api/keyed_mutex.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::api {
namespace {

constexpr std::chrono::milliseconds kTurnPause{20};
constexpr std::chrono::seconds kTurnRetry{1};

}  // namespace

std::shared_ptr<void> KeyedMutex::try_lock(const std::string& key) {
  std::lock_guard lock(mutex_);
  if (!taken_.insert(key).second) return nullptr;
  // The handle is not null, or it would say that the lock is another's.
  return std::shared_ptr<void>(this, [this, key](void*) {
    std::lock_guard again(mutex_);
    taken_.erase(key);
  });
}

Task<std::shared_ptr<void>> KeyedMutex::lock(std::string key, std::chrono::milliseconds patience) {
  const auto limit = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto turn = try_lock(key);
    if (turn) co_return turn;
    if (std::chrono::steady_clock::now() > limit) {
      Error error(ErrorCode::conflict, "another request is changing the same thing");
      error.retry_after = kTurnRetry;
      throw error;
    }
    co_await sleep_for(kTurnPause);
  }
}

}  // namespace sandgate::api
