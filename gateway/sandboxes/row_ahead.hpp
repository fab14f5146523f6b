#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "gateway/core/gate.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

// Writes a sandbox's row while its backend creates the sandbox: a transaction that blocks before
// its commit until the backend has answered, and rolls back when that takes too long. Shared by the
// create and the thread of its transaction. Thread-safe.
class RowAhead {
 public:
  // How long the transaction keeps its connection and locks while waiting for the backend.
  static constexpr std::chrono::milliseconds kWait{50};

  explicit RowAhead(Placed foreseen) : foreseen_(std::move(foreseen)) {}

  const Placed& foreseen() const { return foreseen_; }

  // Called inside the transaction. Throws Error(unavailable) when the backend's answer is late or
  // not as foreseen; the transaction must roll back then.
  void wait();
  // Sets the transaction's outcome.
  void end(Outcome<SandboxRecord> outcome);

  // Passes on the backend's answer (null: none), which resumes the transaction. From here on, the
  // parts of the create that the transaction reads must not change.
  void tell(const Placed* placed);
  // After tell(): the row; empty when the answer was late or not as foreseen, so that nothing was
  // written. Throws the transaction's error.
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
