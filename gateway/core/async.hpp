#pragma once
#include <chrono>
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

// A value, or why there is none.
template <class T>
using Outcome = std::variant<T, Error>;

// Turns a failure into a value at the one place where failing is a choice to make, not an end.
// Anything but an Error passes through.
template <class T>
Task<Outcome<T>> attempt(Task<T> task) {
  try {
    co_return Outcome<T>(co_await std::move(task));
  } catch (const Error& error) {
    co_return Outcome<T>(error);
  }
}

inline Task<Outcome<std::monostate>> attempt(Task<void> task) {
  try {
    co_await std::move(task);
    co_return Outcome<std::monostate>(std::monostate{});
  } catch (const Error& error) {
    co_return Outcome<std::monostate>(error);
  }
}

// Runs blocking work on a pool and resumes on the caller's executor; exceptions travel along.
template <class F>
Task<std::invoke_result_t<F&>> on_pool(asio::thread_pool& pool, F work) {
  using R = std::invoke_result_t<F&>;
  auto job = [work = std::move(work)]() mutable -> Task<R> { co_return work(); };
  co_return co_await asio::co_spawn(pool, std::move(job), asio::use_awaitable);
}

inline Task<void> sleep_for(std::chrono::steady_clock::duration duration) {
  asio::steady_timer timer(co_await asio::this_coro::executor, duration);
  co_await timer.async_wait(asio::use_awaitable);
}

// Starts a task nobody waits for. `work` is a callable returning Task<void>, so that what it
// captures lives as long as the coroutine; it must handle its own Errors.
template <class Executor, class F>
void spawn_detached(const Executor& executor, F work) {
  asio::co_spawn(executor, std::move(work), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace sandgate
