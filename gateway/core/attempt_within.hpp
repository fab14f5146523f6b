#pragma once
#include <exception>
#include <optional>

#include "gateway/core/async.hpp"

namespace sandgate {
namespace within {

// How a task ended, as a value: a race waits for its first success, so a failure must be one. A
// type of its own, because asio unfolds variants that are raced.
template <class T>
struct Ended {
  std::optional<T> value;
  std::exception_ptr failure;
};

template <class T>
Task<Ended<T>> end_of(Task<T> task) {
  Ended<T> ended;
  try {
    ended.value.emplace(co_await std::move(task));
  } catch (...) {
    ended.failure = std::current_exception();
  }
  co_return ended;
}

inline Task<std::monostate> valued(Task<void> task) {
  co_await std::move(task);
  co_return std::monostate();
}

}  // namespace within

// attempt() with a limit: Error(timeout) as the outcome when time ran out. The task is cancelled
// then; one that ignores cancellation holds this until it ends.
template <class T>
Task<Outcome<T>> attempt_within(std::chrono::steady_clock::duration limit, Task<T> task) {
  using namespace asio::experimental::awaitable_operators;
  auto race = within::end_of(std::move(task)) || sleep_for(limit);
  auto winner = co_await std::move(race);
  if (winner.index() == 1)
    co_return Outcome<T>(Error(ErrorCode::timeout, "no answer came in time"));
  auto& ended = std::get<0>(winner);
  if (ended.value) co_return Outcome<T>(std::move(*ended.value));
  try {
    std::rethrow_exception(ended.failure);
  } catch (const Error& error) {
    co_return Outcome<T>(error);
  }
}

inline Task<Outcome<std::monostate>> attempt_within(std::chrono::steady_clock::duration limit,
                                                    Task<void> task) {
  return attempt_within(limit, within::valued(std::move(task)));
}

}  // namespace sandgate
