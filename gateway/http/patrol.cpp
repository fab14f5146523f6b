#include "gateway/http/patrol.hpp"

#include "gateway/http/connection.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

// Ending a connection may destroy it, and others; a copy that owns them keeps the loop valid.
std::vector<std::shared_ptr<Connection>> owned(const std::unordered_set<Connection*>& connections) {
  std::vector<std::shared_ptr<Connection>> copies;
  copies.reserve(connections.size());
  for (Connection* connection : connections)
    if (auto alive = connection->weak_from_this().lock()) copies.push_back(std::move(alive));
  return copies;
}

}  // namespace

void Census::leave() {
  // Under the lock, because whoever waits may destroy this object as soon as it sees zero.
  const std::lock_guard lock(mutex_);
  if (count_.fetch_sub(1, std::memory_order_relaxed) == 1) empty_.notify_all();
}

bool Census::wait_until_empty(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return empty_.wait_for(lock, limit, [this] { return count() == 0; });
}

void Patrol::add(Connection* connection) {
  connections_.insert(connection);
  ++size_;
  if (!ticking_) schedule();
}

void Patrol::remove(Connection* connection) {
  connections_.erase(connection);
  --size_;
  census_->leave();
}

void Patrol::schedule() {
  ticking_ = true;
  timer_.expires_after(kInterval);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code failure) {
    self->ticking_ = false;
    if (failure) return;
    self->look();
    if (!self->connections_.empty() && !self->ticking_) self->schedule();
  });
}

void Patrol::look() {
  const int64_t now_ms = coarse_now_ms();
  std::unordered_set<Connection*> ended;
  for (Connection* connection : connections_)
    if (connection->should_end(now_ms)) ended.insert(connection);
  for (const auto& connection : owned(ended)) connection->cancel();
}

void Patrol::begin_stop() {
  stopping_ = true;
  for (const auto& connection : owned(connections_))
    if (connection->idle()) connection->cancel();
}

void Patrol::cancel_all() {
  for (const auto& connection : owned(connections_)) connection->cancel();
}

}  // namespace sandgate::http
