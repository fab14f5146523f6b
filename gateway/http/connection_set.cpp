#include "gateway/http/connection_set.hpp"

#include "gateway/http/connection.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

void WaitGroup::done() {
  // Notifies under the lock, because the waiting thread may destroy this object once it sees zero.
  const std::lock_guard lock(mutex_);
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) empty_.notify_all();
}

bool WaitGroup::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, limit, [this] { return count() == 0; });
}

ConnectionSet::Handle ConnectionSet::add(Connection* connection) {
  ++size_;
  busy_.push_back({connection});
  if (!ticking_) schedule();
  return std::prev(busy_.end());
}

void ConnectionSet::remove(Handle handle) {
  set_waiting(handle, false);
  busy_.erase(handle);
  --size_;
  open_connections_->done();
}

void ConnectionSet::set_waiting(Handle handle, bool waits) {
  if (handle->waits == waits) return;
  handle->waits = waits;
  std::list<Entry>& to = waits ? waiting_ : busy_;
  to.splice(to.end(), waits ? busy_ : waiting_, handle);
  waiting_count_ += waits ? 1 : -1;
}

size_t ConnectionSet::waiting() const {
  const size_t pending = pending_evictions_;
  const size_t count = waiting_count_;
  return count > pending ? count - pending : 0;
}

void ConnectionSet::schedule_eviction() {
  ++pending_evictions_;
  asio::post(loop_, [self = shared_from_this()] { self->evict_longest_waiting(); });
}

void ConnectionSet::evict_longest_waiting() {
  --pending_evictions_;
  if (waiting_.empty()) return;
  const auto longest = waiting_.front().connection->weak_from_this().lock();
  set_waiting(waiting_.begin(), false);
  if (longest) longest->cancel();
}

void ConnectionSet::schedule() {
  ticking_ = true;
  timer_.expires_after(kInterval);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code failure) {
    self->ticking_ = false;
    if (failure) return;
    self->sweep();
    if (self->size() > 0 && !self->ticking_) self->schedule();
  });
}

void ConnectionSet::end_if(const std::function<bool(Connection&)>& chosen,
                           void (Connection::*end)()) {
  std::vector<std::shared_ptr<Connection>> ended;
  for (const auto* list : {&busy_, &waiting_})
    for (const Entry& entry : *list)
      if (chosen(*entry.connection)) ended.push_back(entry.connection->weak_from_this().lock());
  // This may destroy connections and change the lists, so they must not be iterated meanwhile.
  for (const auto& connection : ended)
    if (connection) (connection.get()->*end)();
}

void ConnectionSet::sweep() {
  end_if([now_ms = coarse_now_ms()](Connection& one) { return one.should_end(now_ms); },
         &Connection::cancel);
}

void ConnectionSet::begin_stop() {
  stopping_ = true;
  end_if([](Connection& one) { return one.idle(); }, &Connection::cancel);
}

void ConnectionSet::cut_off_all() {
  end_if([](Connection&) { return true; }, &Connection::cut_off);
}

}  // namespace sandgate::http
