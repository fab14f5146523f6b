#include "gateway/core/async.hpp"

namespace sandgate {

Task<void> sleep_for(std::chrono::steady_clock::duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
}

void spawn_detached(const asio::any_io_executor& executor, Task<void> task) {
  asio::co_spawn(executor, std::move(task), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace sandgate
