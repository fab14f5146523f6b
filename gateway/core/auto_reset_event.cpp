#include "gateway/core/auto_reset_event.hpp"

#include <mutex>

namespace sandgate {

// The mutex also guards the timer, which different threads start and cancel.
struct AutoResetEvent::State {
  explicit State(asio::any_io_executor executor) : timer(std::move(executor)) {}

  bool take() {
    std::lock_guard lock(mutex);
    return std::exchange(rung, false);
  }

  std::mutex mutex;
  bool rung = false;
  asio::steady_timer timer;
};

AutoResetEvent::AutoResetEvent(asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

void AutoResetEvent::set() {
  std::lock_guard lock(state_->mutex);
  state_->rung = true;
  state_->timer.cancel();
}

Task<void> AutoResetEvent::wait() {
  using Ticks = asio::steady_timer::time_point;
  const auto state = state_;
  if (state->take()) co_return;
  boost::system::error_code ended;
  auto begin = [state](auto handler) {
    std::lock_guard lock(state->mutex);
    state->timer.expires_at(state->rung ? Ticks::min() : Ticks::max());
    state->timer.async_wait(std::move(handler));
  };
  auto token = asio::redirect_error(asio::use_awaitable, ended);
  auto waiting = asio::async_initiate<decltype(token), void(boost::system::error_code)>(
      std::move(begin), token);
  co_await std::move(waiting);
  if (!state->take()) throw boost::system::system_error(asio::error::operation_aborted);
}

}  // namespace sandgate
