#include "gateway/events/event_bell.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate {

EventBell::Listener::Listener(EventBell& all, const Interest& interest,
                              asio::any_io_executor executor)
    : all_(all), bell_(std::move(executor)) {
  std::lock_guard lock(all_.mutex_);
  entry_ = all_.waiting_.emplace(key_of(interest), &bell_);
  if (all_.closed_) bell_.set();
}

EventBell::Listener::~Listener() {
  std::lock_guard lock(all_.mutex_);
  all_.waiting_.erase(entry_);
}

Task<void> EventBell::Listener::wait(std::chrono::milliseconds limit) {
  auto ring = bell_.wait();
  co_await with_timeout(limit, std::move(ring));
}

// Unambiguous, since tenants and subjects contain no space.
std::string EventBell::key_of(const Interest& interest) {
  if (!interest.tenant) return "";
  return interest.subject.empty() ? interest.tenant->value
                                  : interest.tenant->value + " " + interest.subject;
}

void EventBell::wake(const std::string& key) {
  const auto [first, last] = waiting_.equal_range(key);
  for (auto at = first; at != last; ++at) at->second->set();
}

void EventBell::ring(const std::string& payload) {
  const std::string tenant = payload.substr(0, payload.find(' '));
  std::lock_guard lock(mutex_);
  if (tenant.empty()) {
    for (const auto& [key, bell] : waiting_) bell->set();
    return;
  }
  wake("");
  wake(tenant);
  wake(payload);
}

void EventBell::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& [key, bell] : waiting_) bell->set();
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
