#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "gateway/core/error.hpp"

namespace sandgate {

namespace asio = boost::asio;

template <class T>
using Task = asio::awaitable<T>;

// A value, or the Error that prevented it.
template <class T>
using Outcome = std::variant<T, Error>;

// Converts the exception being handled to an Error; call it inside a catch block. Returns an Error
// as it is. Any other exception becomes Error(unavailable); unexpected types (such as JSON type
// errors from a backend's answer) are logged. A cancellation (operation_aborted) is rethrown.
Error caught_error();

// Runs a task and returns its failure as a value instead of throwing, for callers that have an
// alternative. Exceptions are converted by caught_error(), so a cancellation still throws.
template <class T>
Task<Outcome<T>> attempt(Task<T> task) {
  try {
    co_return Outcome<T>(co_await std::move(task));
  } catch (const std::exception&) {
    co_return Outcome<T>(caught_error());
  }
}

inline Task<Outcome<std::monostate>> attempt(Task<void> task) {
  try {
    co_await std::move(task);
    co_return Outcome<std::monostate>(std::monostate{});
  } catch (const std::exception&) {
    co_return Outcome<std::monostate>(caught_error());
  }
}

// Runs blocking work on a pool thread and resumes on the caller's executor. Exceptions propagate to
// the caller. The work runs to completion even if the caller is destroyed meanwhile.
Task<void> run_on_pool(asio::thread_pool& pool, std::function<void()> work);

template <class F>
Task<std::invoke_result_t<F&>> on_pool(asio::thread_pool& pool, F work) {
  using Result = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<Result>) {
    co_await run_on_pool(pool, std::move(work));
  } else {
    auto result = std::make_shared<std::optional<Result>>();
    auto keep = [result, work = std::move(work)]() mutable { result->emplace(work()); };
    auto running = run_on_pool(pool, std::move(keep));
    co_await std::move(running);
    co_return std::move(**result);
  }
}

Task<void> sleep_for(std::chrono::steady_clock::duration duration);

// Starts a task without waiting for it. The task must handle its own Errors.
void spawn_detached(const asio::any_io_executor& executor, Task<void> task);

template <class F>
Task<void> kept_alive(F work) {
  co_await work();
}

// `work` is a callable that returns Task<void>. Its captures live until the coroutine ends.
template <class F>
void spawn_detached(const asio::any_io_executor& executor, F work) {
  spawn_detached(executor, kept_alive(std::move(work)));
}

}  // namespace sandgate
