#pragma once
#include <exception>
#include <optional>

#include "gateway/core/async.hpp"

// Tasks that run beside a timer or beside each other. A race of Asio waits for its first success,
// so a task enters one as a value that tells how it ended: a failure decides it as well.
namespace sandgate {

// A type of its own, because Asio unfolds variants that are raced.
template <class T>
struct Settled {
  std::optional<T> value;
  std::exception_ptr failure;

  T take() {
    if (failure) std::rethrow_exception(failure);
    return std::move(*value);
  }
};

template <class T>
Task<Settled<T>> settle(Task<T> task) {
  Settled<T> settled;
  try {
    settled.value.emplace(co_await std::move(task));
  } catch (...) {
    settled.failure = std::current_exception();
  }
  co_return std::move(settled);
}

// Races a task against a timer; empty when time ran out, at once what the task throws. The task is
// cancelled through its cancellation slot: one that ignores the slot holds the race until it ends.
template <class T>
Task<std::optional<T>> with_timeout(std::chrono::steady_clock::duration limit, Task<T> task) {
  using namespace asio::experimental::awaitable_operators;
  auto race = settle(std::move(task)) || sleep_for(limit);
  auto winner = co_await std::move(race);
  if (winner.index() == 1) co_return std::nullopt;
  co_return std::optional<T>(std::get<0>(winner).take());
}

inline Task<std::optional<std::monostate>> with_timeout(std::chrono::steady_clock::duration limit,
                                                        Task<void> task) {
  auto valued = [](Task<void> of) -> Task<std::monostate> {
    co_await std::move(of);
    co_return std::monostate();
  };
  return with_timeout(limit, valued(std::move(task)));
}

// attempt() with a limit: Error(timeout) as the outcome when time ran out.
template <class T>
auto attempt_within(std::chrono::steady_clock::duration limit, Task<T> task)
    -> Task<Outcome<std::conditional_t<std::is_void_v<T>, std::monostate, T>>> {
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  auto racing = with_timeout(limit, std::move(task));
  auto outcome = co_await attempt(std::move(racing));
  if (const auto* failure = std::get_if<Error>(&outcome)) co_return Outcome<Value>(*failure);
  auto& value = std::get<0>(outcome);
  if (!value) co_return Outcome<Value>(Error(ErrorCode::timeout, "no answer came in time"));
  co_return Outcome<Value>(std::move(*value));
}

// Ends only when it is cancelled, so that a race against it is decided by the other side.
inline Task<void> linger(Task<void> task) {
  try {
    co_await std::move(task);
  } catch (const std::exception&) {
    // A companion's failure shows in the main task, or does not matter.
  }
  asio::steady_timer forever(co_await asio::this_coro::executor,
                             asio::steady_timer::time_point::max());
  co_await forever.async_wait(asio::use_awaitable);
}

// Runs `main` and, on the same executor, `companion` beside it; ends as `main` ends (value or
// exception) and cancels the companion then. What the companion throws is dropped.
template <class T>
Task<T> with_companion(Task<T> main, Task<void> companion) {
  using namespace asio::experimental::awaitable_operators;
  auto race = settle(std::move(main)) || linger(std::move(companion));
  auto winner = co_await std::move(race);
  co_return std::get<0>(winner).take();
}

}  // namespace sandgate
