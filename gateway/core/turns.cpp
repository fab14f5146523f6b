#include "gateway/core/turns.hpp"

namespace sandgate {

Turns::Turn::Turn(Turns& all, asio::any_io_executor executor)
    : all_(all), begun_(std::move(executor)) {
  std::lock_guard lock(all_.mutex_);
  all_.waiting_.push_back(this);
  if (all_.free_ > 0) {
    --all_.free_;
    all_.pass_on();
  }
}

Turns::Turn::~Turn() {
  std::lock_guard lock(all_.mutex_);
  if (has_it_)
    all_.pass_on();
  else
    all_.waiting_.remove(this);
}

Task<void> Turns::Turn::wait() { return begun_.wait(); }

void Turns::pass_on() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  Turn* const next = waiting_.front();
  waiting_.pop_front();
  next->has_it_ = true;
  next->begun_.set();
}

}  // namespace sandgate
