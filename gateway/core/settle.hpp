#pragma once
#include <exception>
#include <functional>
#include <optional>

#include "gateway/core/async.hpp"

// Tasks that run concurrently with a timer or with each other. Asio's race waits for the first
// success. A task therefore enters a race wrapped as one that never fails, so that its failure
// decides the race too. Races use Task<void> only, because every further type is expensive to
// compile.
namespace sandgate {

// A task's result or failure.
template <class T>
struct Settled {
  std::optional<T> value;
  std::exception_ptr failure;

  T take() {
    if (failure) std::rethrow_exception(failure);
    return std::move(value.value());
  }
};

template <>
struct Settled<void> {
  std::exception_ptr failure;

  void take() const {
    if (failure) std::rethrow_exception(failure);
  }
};

// Stores how `task` ends in `settled`, which must outlive the task. Never throws.
Task<void> settle(Task<void> task, Settled<void>& settled);
template <class T>
Task<void> settle(Task<T> task, Settled<T>& settled) {
  try {
    settled.value.emplace(co_await std::move(task));
  } catch (...) {
    settled.failure = std::current_exception();
  }
}

// Runs a task that never throws together with `other` and cancels the one that is later. Returns
// whether the task was first.
Task<bool> ends_before(Task<void> task, Task<void> other);

// Runs a task that never throws by itself, and asks once per `every` whether to detach it. Returns
// whether the task ended; a detached one goes on. If the caller is cancelled or `should_detach`
// throws, the task is cancelled, and not waited for. So it has to own what it uses.
Task<bool> ends_unless_detached(Task<void> task, std::chrono::steady_clock::duration every,
                                std::function<Task<bool>()> should_detach);

// Returns whether a task that never throws ended by itself within `limit`; otherwise cancels it.
Task<bool> ends_within(std::chrono::steady_clock::duration limit, Task<void> task);

// Races a task against a timer. Returns empty on timeout; rethrows the task's exception at once. On
// timeout the task is cancelled; a task that ignores its cancellation slot delays the return.
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

// attempt() with a limit: the outcome is Error(timeout) on timeout.
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

// Returns the task's value; throws its exception, or Error(timeout) on timeout.
template <class T>
Task<T> within(std::chrono::steady_clock::duration limit, Task<T> task) {
  auto attempting = attempt_within(limit, std::move(task));
  auto outcome = co_await std::move(attempting);
  if (const auto* error = std::get_if<Error>(&outcome)) throw *error;
  if constexpr (!std::is_void_v<T>) co_return std::move(std::get<0>(outcome));
}

// Runs a task that never throws together with `companion` on the same executor. Cancels the
// companion when the task ends.
Task<void> ends_beside(Task<void> task, Task<void> companion);

// Runs `main` together with `companion` on the same executor and ends as `main` does (value or
// exception), cancelling the companion. Exceptions of the companion are dropped.
template <class T>
Task<T> with_companion(Task<T> main, Task<void> companion) {
  Settled<T> settled;
  auto both = ends_beside(settle(std::move(main), settled), std::move(companion));
  co_await std::move(both);
  co_return settled.take();
}

// Runs a task, then waits until cancelled, so that it never decides a race.
Task<void> then_wait_forever(Task<void> task);

}  // namespace sandgate
