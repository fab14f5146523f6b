#pragma once
#include <exception>
#include <optional>

#include "gateway/core/async.hpp"

// Tasks that run beside a timer or beside each other. A race of Asio waits for its first success,
// so a task enters one as a value that tells how it ended: a failure decides it as well. Races
// themselves are of tasks without a value, because each further type is dear to compile.
namespace sandgate {

// How a task ended.
template <class T>
struct Settled {
  std::optional<T> value;
  std::exception_ptr failure;

  T take() {
    if (failure) std::rethrow_exception(failure);
    return std::move(value.value());
  }
};

// Throws nothing. `settled` must outlive the task.
template <class T>
Task<void> settle(Task<T> task, Settled<T>& settled) {
  try {
    settled.value.emplace(co_await std::move(task));
  } catch (...) {
    settled.failure = std::current_exception();
  }
}

// Whether a task that throws nothing ended by itself before its time ran out.
Task<bool> ends_within(std::chrono::steady_clock::duration limit, Task<void> task);

// Races a task against a timer; empty when time ran out, at once what the task throws. The task is
// cancelled through its cancellation slot: one that ignores the slot holds the race until it ends.
template <class T>
Task<std::optional<T>> with_timeout(std::chrono::steady_clock::duration limit, Task<T> task) {
  Settled<T> settled;
  auto race = ends_within(limit, settle(std::move(task), settled));
  const bool in_time = co_await std::move(race);
  if (!in_time) co_return std::nullopt;
  co_return std::optional<T>(settled.take());
}

Task<std::optional<std::monostate>> with_timeout(std::chrono::steady_clock::duration limit,
                                                 Task<void> task);

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

// The task's value; throws what it throws, and Error(timeout) when time ran out.
template <class T>
Task<T> within(std::chrono::steady_clock::duration limit, Task<T> task) {
  auto attempting = attempt_within(limit, std::move(task));
  auto outcome = co_await std::move(attempting);
  if (const auto* error = std::get_if<Error>(&outcome)) throw *error;
  if constexpr (!std::is_void_v<T>) co_return std::move(std::get<0>(outcome));
}

// Runs a task that throws nothing and, on the same executor, `companion` beside it, which is
// cancelled when the task ends.
Task<void> ends_beside(Task<void> task, Task<void> companion);

// Runs `main` and, on the same executor, `companion` beside it; ends as `main` ends (value or
// exception) and cancels the companion then. What the companion throws is dropped.
template <class T>
Task<T> with_companion(Task<T> main, Task<void> companion) {
  Settled<T> settled;
  auto both = ends_beside(settle(std::move(main), settled), std::move(companion));
  co_await std::move(both);
  co_return settled.take();
}

// Ends only when it is cancelled, so that a race against it is decided by the other side.
Task<void> linger(Task<void> task);

}  // namespace sandgate
