#pragma once
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "gateway/core/async.hpp"
#include "gateway/core/error.hpp"
#include "providers/backoff.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// The failure of a call that follows an accepted create, as that create's own: it proves nothing
// about the sandbox. Error(timeout) or Error(unavailable), without the marks of refused credentials
// and of a request that was never sent, which would prove that nothing was made.
inline Error of_unknown_outcome(Error error) {
  if (error.code != ErrorCode::timeout) error.code = ErrorCode::unavailable;
  if (are_credentials_refused(error) || was_never_sent(error)) error.details = nullptr;
  return error;
}

// Decides which failures of a question, which changes nothing, are worth a repeat.
class Retries {
 public:
  // Throws the error unless it is one of the connection, and at most the fifth in a row.
  void failed(const Error& error) {
    const bool passes = error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
    if (!passes || are_credentials_refused(error) || ++failures_ > kMaxFailures) throw error;
  }
  void succeeded() { failures_ = 0; }

 private:
  static constexpr int kMaxFailures = 5;

  int failures_ = 0;  // consecutive
};

// Repeats `ask`, which returns a Task, until there is an answer: after the time that a rate limit
// names, however often, and after other failures up to five times in a row. For questions about a
// sandbox whose create was accepted: what it throws is Error(timeout) or Error(unavailable), since
// the sandbox may exist. The caller's deadline ends the wait.
template <class Ask>
auto retry_until_answered(Ask ask) -> std::invoke_result_t<Ask> {
  Retries retries;
  for (Backoff pause;;) {
    auto asking = ask();
    auto outcome = co_await attempt(std::move(asking));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return std::move(std::get<0>(outcome));
    const bool is_limited = error->code == ErrorCode::rate_limited;
    const Error failure = of_unknown_outcome(*error);
    if (is_limited && failure.retry_after)
      co_await sleep_for(*failure.retry_after);
    else
      retries.failed(failure);
    co_await pause.wait();
  }
}

// Repeats `ask`, which returns a Task of an optional exit status, until there is one. Throws
// Error(unavailable) if there is none after `timeout`; 0: waits for ever.
template <class Ask>
Task<int> wait_for_status(Ask ask, std::chrono::milliseconds timeout = {}) {
  const auto limit = std::chrono::steady_clock::now() + timeout;
  Retries retries;
  for (Backoff pause;;) {
    auto asking = ask();
    const auto outcome = co_await attempt(std::move(asking));
    if (const auto* error = std::get_if<Error>(&outcome))
      retries.failed(*error);
    else if (const std::optional<int>& status = std::get<0>(outcome))
      co_return *status;
    else
      retries.succeeded();
    if (timeout.count() > 0 && std::chrono::steady_clock::now() > limit)
      throw disconnected_without_exit();
    co_await pause.wait();
  }
}

}  // namespace sandgate
