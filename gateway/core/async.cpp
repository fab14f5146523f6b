#include "gateway/core/async.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {

Error caught_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const asio::multiple_exceptions& several) {
    // Of tasks beside each other; cancelled, all of them were.
    try {
      std::rethrow_exception(several.first_exception());
    } catch (const std::exception&) {
      return caught_error();
    }
  } catch (const boost::system::system_error& failure) {
    if (failure.code() == asio::error::operation_aborted) throw;
    return Error(ErrorCode::unavailable, "a connection failed: " + failure.code().message());
  } catch (const std::exception& failure) {
    log::error("something failed in an unforeseen way",
               {{"type", typeid(failure).name()}, {"reason", failure.what()}});
    return Error(ErrorCode::unavailable, "something failed in an unforeseen way");
  }
}

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
