#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "gateway/core/gate.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

// The row of a sandbox that is written while the sandbox is being made: a transaction that waits in
// its middle until it is there, for a moment, and leaves nothing behind when it is not. Between the
// create and the thread of its transaction; thread-safe.
class RowAhead {
 public:
  // How long the transaction holds its connection, and what it has locked, for the backend.
  static constexpr std::chrono::milliseconds kWait{50};

  explicit RowAhead(Placed foreseen) : foreseen_(std::move(foreseen)) {}

  const Placed& foreseen() const { return foreseen_; }

  // In the middle of the transaction. Throws Error(unavailable) when the sandbox is not there in
  // time, or not as foreseen: nothing may be committed then.
  void wait();
  // How the transaction ended.
  void end(Outcome<SandboxRecord> outcome);

  // The backend's answer (null: it made none), which the transaction goes on with. What the
  // transaction reads of the create must not change from here on.
  void tell(const Placed* placed);
  // After tell(): the row; empty when nothing was written because it was told otherwise or too
  // late. Throws what the transaction failed with.
  Task<std::optional<SandboxRecord>> row();

 private:
  enum class Answer { none_yet, as_foreseen, otherwise };

  const Placed foreseen_;
  std::mutex mutex_;
  std::condition_variable told_;
  Answer answer_ = Answer::none_yet;
  bool missed_ = false;
  Gate ended_;
  std::optional<Outcome<SandboxRecord>> outcome_;  // set before the gate opens
};

}  // namespace sandgate
