#include "gateway/core/fair_semaphore.hpp"

namespace sandgate {

Task<FairSemaphore::Slot> FairSemaphore::acquire(std::string name) {
  const auto executor = co_await asio::this_coro::executor;
  const auto timer = std::make_shared<Timer>(executor, Timer::time_point::max());
  Line& line = lines_[name];
  if (line.waiting.empty()) waiting_.push_back(name);
  line.waiting.push_back(timer);
  wake_next();
  const auto has_it = [&] { return timer->expiry() == Timer::time_point::min(); };
  if (!has_it()) co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
  if (!has_it()) {
    leave(name, timer);
    throw boost::system::system_error(asio::error::operation_aborted);
  }
  co_return Slot(*this, std::move(name));
}

void FairSemaphore::leave(const std::string& name, const std::shared_ptr<Timer>& place) {
  Line& line = lines_[name];
  std::erase(line.waiting, place);
  if (!line.waiting.empty()) return;
  waiting_.remove(name);
  if (line.held == 0) lines_.erase(name);
}

void FairSemaphore::release(const std::string& name) {
  Line& line = lines_[name];
  --held_;
  --line.held;
  wake_next();
  if (line.held == 0 && line.waiting.empty()) lines_.erase(name);
}

// A timer that has expired before it is waited for ends the wait at once.
void FairSemaphore::wake_next() {
  for (auto at = waiting_.begin(); at != waiting_.end() && held_ < most_;) {
    Line& line = lines_[*at];
    if (line.held >= each_) {
      ++at;
      continue;
    }
    ++held_;
    ++line.held;
    line.waiting.front()->expires_at(Timer::time_point::min());
    line.waiting.pop_front();
    if (!line.waiting.empty()) waiting_.push_back(*at);
    at = waiting_.erase(at);
  }
}

}  // namespace sandgate
