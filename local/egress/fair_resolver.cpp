#include "local/egress/fair_resolver.hpp"

namespace sandgate::egress {

FairResolver::FairResolver(asio::io_context& loop, Limits limits, Find find)
    : loop_(loop), limits_(limits), find_(std::move(find)), threads_(limits.threads) {}

Task<std::optional<Addresses>> FairResolver::addresses_of(Requester requester, std::string name) {
  const auto lookup = std::make_shared<Lookup>(loop_, std::move(name));
  lookup->over.expires_after(limits_.timeout);
  Queue& queue = queues_[requester.sandbox];
  queue.tenant = requester.tenant;
  queue.waiting.push_back(lookup);
  start_waiting();
  co_await lookup->over.async_wait(asio::as_tuple(asio::use_awaitable));
  if (const auto late = queues_.find(requester.sandbox); late != queues_.end()) {
    std::erase(late->second.waiting, lookup);
    forget_if_idle(requester.sandbox);
  }
  co_return std::move(lookup->found);
}

void FairResolver::start_waiting() {
  while (running_ < limits_.threads) {
    const auto next = next_queue();
    if (next == queues_.end()) return;
    start(next->first, next->second);
  }
}

bool FairResolver::may_start(const Queue& queue) const {
  if (queue.waiting.empty() || queue.running >= limits_.of_sandbox) return false;
  const auto tenant = tenants_.find(queue.tenant);
  const size_t held = tenant == tenants_.end() ? 0 : tenant->second;
  return held + running_ < limits_.threads;
}

FairResolver::Queues::iterator FairResolver::next_queue() {
  auto at = queues_.upper_bound(last_);
  for (size_t seen = 0; seen < queues_.size(); ++seen, ++at) {
    if (at == queues_.end()) at = queues_.begin();
    if (may_start(at->second)) return at;
  }
  return queues_.end();
}

void FairResolver::start(const std::string& sandbox, Queue& queue) {
  last_ = sandbox;
  const LookupPtr lookup = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  ++queue.running;
  ++tenants_[queue.tenant];
  ++running_;
  asio::post(threads_, [this, lookup, sandbox, tenant = queue.tenant] {
    auto found = find_(lookup->name);
    asio::post(loop_, [this, lookup, sandbox, tenant, found = std::move(found)]() mutable {
      lookup->found = std::move(found);
      lookup->over.cancel();
      ended(sandbox, tenant);
    });
  });
}

void FairResolver::ended(const std::string& sandbox, const std::string& tenant) {
  --running_;
  if (--tenants_[tenant] == 0) tenants_.erase(tenant);
  --queues_[sandbox].running;
  forget_if_idle(sandbox);
  start_waiting();
}

void FairResolver::forget_if_idle(const std::string& sandbox) {
  const auto queue = queues_.find(sandbox);
  if (queue->second.waiting.empty() && queue->second.running == 0) queues_.erase(queue);
}

}  // namespace sandgate::egress
