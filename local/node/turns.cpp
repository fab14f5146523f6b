#include "local/node/turns.hpp"

namespace sandgate {

Task<void> Turns::take(std::string name) {
  const auto executor = co_await asio::this_coro::executor;
  const auto bell = std::make_shared<Bell>(executor, Bell::time_point::max());
  Line& line = lines_[name];
  if (line.waiting.empty()) waiting_.push_back(name);
  line.waiting.push_back(bell);
  call_next();
  co_await bell->async_wait(asio::as_tuple(asio::use_awaitable));
}

void Turns::give_back(const std::string& name) {
  Line& line = lines_[name];
  --going_;
  --line.going;
  call_next();
  if (line.going == 0 && line.waiting.empty()) lines_.erase(name);
}

// Sets the timer's expiry instead of cancelling it, so that a take() that does not wait on it yet
// returns at once.
void Turns::call_next() {
  for (auto at = waiting_.begin(); at != waiting_.end() && going_ < most_;) {
    Line& line = lines_[*at];
    if (line.going >= each_) {
      ++at;
      continue;
    }
    ++going_;
    ++line.going;
    line.waiting.front()->expires_at(Bell::time_point::min());
    line.waiting.pop_front();
    if (!line.waiting.empty()) waiting_.push_back(*at);
    at = waiting_.erase(at);
  }
}

}  // namespace sandgate
