#include "gateway/events/event_notifier.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate {

EventNotifier::Listener::Listener(EventNotifier& all, const Subscription& subscription,
                                  asio::any_io_executor executor)
    : all_(all), wakeup_(std::move(executor)) {
  std::lock_guard lock(all_.mutex_);
  entry_ = all_.waiting_.emplace(key_of(subscription), &wakeup_);
  if (all_.closed_) wakeup_.set();
}

EventNotifier::Listener::~Listener() {
  std::lock_guard lock(all_.mutex_);
  all_.waiting_.erase(entry_);
}

Task<void> EventNotifier::Listener::wait(std::chrono::milliseconds limit) {
  auto waking = wakeup_.wait();
  co_await with_timeout(limit, std::move(waking));
}

// Unambiguous, since tenants and subjects contain no space.
std::string EventNotifier::key_of(const Subscription& subscription) {
  if (!subscription.tenant) return "";
  return subscription.subject.empty() ? subscription.tenant->value
                                      : subscription.tenant->value + " " + subscription.subject;
}

void EventNotifier::wake(const std::string& key) {
  const auto [first, last] = waiting_.equal_range(key);
  for (auto at = first; at != last; ++at) at->second->set();
}

void EventNotifier::notify(const std::string& payload) {
  const std::string tenant = payload.substr(0, payload.find(' '));
  std::lock_guard lock(mutex_);
  if (tenant.empty()) {
    for (const auto& [key, wakeup] : waiting_) wakeup->set();
    return;
  }
  wake("");
  wake(tenant);
  wake(payload);
}

void EventNotifier::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [key, wakeup] : waiting_) wakeup->set();
}

bool EventNotifier::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

size_t EventNotifier::listeners() const {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace sandgate
