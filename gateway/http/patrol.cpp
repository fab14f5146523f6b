#include "gateway/http/patrol.hpp"

#include "gateway/http/connection.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

void Census::leave() {
  // Notifies under the lock, because the waiting thread may destroy this object once it sees zero.
  const std::lock_guard lock(mutex_);
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) empty_.notify_all();
}

bool Census::wait_until_empty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, limit, [this] { return count() == 0; });
}

Patrol::Place Patrol::add(Connection* connection) {
  ++size_;
  busy_.push_back({connection});
  if (!ticking_) schedule();
  return std::prev(busy_.end());
}

void Patrol::remove(Place place) {
  set_waiting(place, false);
  busy_.erase(place);
  --size_;
  census_->leave();
}

void Patrol::set_waiting(Place place, bool waits) {
  if (place->waits == waits) return;
  place->waits = waits;
  std::list<Entry>& to = waits ? waiting_ : busy_;
  to.splice(to.end(), waits ? busy_ : waiting_, place);
  waiting_count_ += waits ? 1 : -1;
}

size_t Patrol::waiting() const {
  const size_t promised = promised_;
  const size_t count = waiting_count_;
  return count > promised ? count - promised : 0;
}

void Patrol::promise_room() {
  ++promised_;
  asio::post(loop_, [self = shared_from_this()] { self->make_room(); });
}

void Patrol::make_room() {
  --promised_;
  if (waiting_.empty()) return;
  const auto longest = waiting_.front().connection->weak_from_this().lock();
  set_waiting(waiting_.begin(), false);
  if (longest) longest->cancel();
}

void Patrol::schedule() {
  ticking_ = true;
  timer_.expires_after(kInterval);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code failure) {
    self->ticking_ = false;
    if (failure) return;
    self->look();
    if (self->size() > 0 && !self->ticking_) self->schedule();
  });
}

void Patrol::end_those(const std::function<bool(Connection&)>& chosen) {
  std::vector<std::shared_ptr<Connection>> ended;
  for (const auto* list : {&busy_, &waiting_})
    for (const Entry& entry : *list)
      if (chosen(*entry.connection)) ended.push_back(entry.connection->weak_from_this().lock());
  // Cancelling may destroy connections and change the lists, so they must not be iterated
  // meanwhile.
  for (const auto& connection : ended)
    if (connection) connection->cancel();
}

void Patrol::look() {
  end_those([now_ms = coarse_now_ms()](Connection& one) { return one.should_end(now_ms); });
}

void Patrol::begin_stop() {
  stopping_ = true;
  end_those([](Connection& one) { return one.idle(); });
}

void Patrol::cancel_all() {
  end_those([](Connection&) { return true; });
}

}  // namespace sandgate::http
