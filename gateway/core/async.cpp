#include "gateway/core/async.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {

Error caught_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const asio::multiple_exceptions& several) {
    // Thrown by a parallel group. When the group was cancelled, each of its tasks was.
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

// A coroutine spawned on the pool would resume its caller through another pool thread.
Task<void> run_on_pool(asio::thread_pool& pool, std::function<void()> work) {
  return asio::async_initiate<const asio::use_awaitable_t<>, void(std::exception_ptr)>(
      [&pool](auto handler, std::function<void()> todo) {
        auto resume = std::make_shared<decltype(handler)>(std::move(handler));
        auto guard = asio::make_work_guard(asio::get_associated_executor(*resume));
        asio::post(pool, [resume = std::move(resume), guard = std::move(guard),
                          todo = std::move(todo)]() mutable {
          std::exception_ptr failure;
          try {
            todo();
          } catch (...) {
            failure = std::current_exception();
          }
          todo = nullptr;
          const auto caller = guard.get_executor();
          asio::post(caller, [resume = std::move(resume), guard = std::move(guard), failure] {
            std::move (*resume)(failure);
          });
        });
      },
      asio::use_awaitable, std::move(work));
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
