#include "gateway/sandboxes/row_ahead.hpp"

namespace sandgate {
namespace {

bool is_same(const Placed& one, const Placed& other) {
  return one.deployment == other.deployment && one.sandbox.backend_id == other.sandbox.backend_id &&
         one.sandbox.isolation == other.sandbox.isolation &&
         one.sandbox.region == other.sandbox.region;
}

}  // namespace

void RowAhead::wait() {
  std::unique_lock lock(mutex_);
  told_.wait_for(lock, kWait, [this] { return answer_ != Answer::none_yet; });
  missed_ = missed_ || answer_ != Answer::as_foreseen;
  if (missed_) throw Error(ErrorCode::unavailable, "the sandbox was not there in time");
}

void RowAhead::end(Outcome<SandboxRecord> outcome) {
  outcome_.emplace(std::move(outcome));
  ended_.open();
}

void RowAhead::tell(const Placed* placed) {
  const bool is_there = placed && is_same(*placed, foreseen_);
  {
    const std::lock_guard lock(mutex_);
    if (answer_ == Answer::none_yet) answer_ = is_there ? Answer::as_foreseen : Answer::otherwise;
  }
  told_.notify_all();
}

Task<std::optional<SandboxRecord>> RowAhead::row() {
  co_await ended_.wait();
  if (const auto* written = std::get_if<SandboxRecord>(&*outcome_)) co_return *written;
  const std::lock_guard lock(mutex_);
  if (missed_ || answer_ == Answer::otherwise) co_return std::nullopt;
  throw std::get<Error>(*outcome_);
}

}  // namespace sandgate
