#include "gateway/events/event_bell.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate {
namespace {

template <class Channel>
Task<bool> one_ring(std::shared_ptr<Channel> channel) {
  co_await channel->async_receive(asio::use_awaitable);
  co_return true;
}

}  // namespace

EventBell::Listener::Listener(EventBell& bell, const Interest& interest,
                              asio::any_io_executor executor)
    : bell_(bell), channel_(std::make_shared<Channel>(std::move(executor), 1)) {
  std::lock_guard lock(bell_.mutex_);
  entry_ = bell_.waiting_.emplace(key_of(interest), channel_);
  if (bell_.closed_) channel_->try_send(boost::system::error_code());
}

EventBell::Listener::~Listener() {
  std::lock_guard lock(bell_.mutex_);
  bell_.waiting_.erase(entry_);
}

Task<void> EventBell::Listener::wait(std::chrono::milliseconds limit) {
  auto ring = one_ring(channel_);
  co_await with_timeout(limit, std::move(ring));
}

// No tenant and no subject contains a space.
std::string EventBell::key_of(const Interest& interest) {
  if (!interest.tenant) return "";
  return interest.subject.empty() ? interest.tenant->value
                                  : interest.tenant->value + " " + interest.subject;
}

void EventBell::wake(const std::string& key) {
  const auto [first, last] = waiting_.equal_range(key);
  for (auto at = first; at != last; ++at) at->second->try_send(boost::system::error_code());
}

void EventBell::ring(const std::string& payload) {
  const std::string tenant = payload.substr(0, payload.find(' '));
  std::lock_guard lock(mutex_);
  if (tenant.empty()) {
    for (const auto& [key, channel] : waiting_) channel->try_send(boost::system::error_code());
    return;
  }
  wake("");
  wake(tenant);
  wake(payload);
}

void EventBell::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [key, channel] : waiting_) channel->try_send(boost::system::error_code());
}

bool EventBell::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

size_t EventBell::listeners() const {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace sandgate
