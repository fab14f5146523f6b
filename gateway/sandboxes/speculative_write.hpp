#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "gateway/core/database.hpp"
#include "gateway/core/one_shot_event.hpp"

namespace sandgate {

// A transaction that is written while a backend works: it blocks before its commit until it is
// given the backend's answer, and rolls back when that takes too long. Shared by whoever asked the
// backend and the thread of the transaction. Thread-safe.
template <class Answer, class Written>
class SpeculativeWrite {
 public:
  // How long the transaction keeps its connection and locks while waiting for the backend.
  static constexpr std::chrono::milliseconds kWait{50};
  static constexpr size_t kConnectionShare = 4;  // one connection in so many may wait like this

  // Called inside the transaction. Throws Error(unavailable) when the answer is late or not as
  // foreseen; the transaction must roll back then.
  Answer wait() {
    std::unique_lock lock(mutex_);
    answered_.wait_for(lock, kWait, [this] { return has_answer_; });
    missed_ = missed_ || !answer_;
    if (missed_) throw Error(ErrorCode::unavailable, "the backend's answer did not come in time");
    return *answer_;
  }

  // Resumes the transaction with the backend's answer; empty: it is not as foreseen. From here on,
  // what the transaction reads must not change.
  void set_answer(std::optional<Answer> answer) {
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(has_answer_, true)) answer_ = std::move(answer);
    }
    answered_.notify_all();
  }

  // Sets the transaction's outcome.
  void end(Outcome<Written> outcome) {
    outcome_.emplace(std::move(outcome));
    ended_.set();
  }

  // After set_answer(): what the transaction returned; empty when the answer was late or not as
  // foreseen, so that nothing was written. Throws the transaction's error.
  Task<std::optional<Written>> result() {
    co_await ended_.wait();
    if (const auto* value = std::get_if<Written>(&*outcome_)) co_return *value;
    const std::lock_guard lock(mutex_);
    if (missed_ || !answer_) co_return std::nullopt;
    throw std::get<Error>(*outcome_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable answered_;
  bool has_answer_ = false;
  std::optional<Answer> answer_;
  bool missed_ = false;
  OneShotEvent ended_;
  std::optional<Outcome<Written>> outcome_;  // written before the event is set
};

// Starts `write(pqxx::work&)`, which calls speculative->wait(), as the transaction of
// `speculative`. The database outlives it.
template <class WritePtr, class F>
void start_speculative_write(const asio::any_io_executor& executor, Database& database,
                             WritePtr speculative, F write) {
  auto work = [&database, speculative, write = std::move(write)]() -> Task<void> {
    auto writing = database.run(write);
    auto outcome = co_await attempt(std::move(writing));
    speculative->end(std::move(outcome));
  };
  spawn_detached(asio::make_strand(executor), std::move(work));
}

}  // namespace sandgate
