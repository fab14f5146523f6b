#include "gateway/sandboxes/creating/create_queue.hpp"

#include "gateway/core/auto_reset_event.hpp"
#include "gateway/core/settle.hpp"

namespace sandgate {
namespace {

Error too_many_creates() {
  Error error(ErrorCode::unavailable, "too many creates of this tenant are under way");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

}  // namespace

struct CreateQueue::Waiter {
  explicit Waiter(asio::any_io_executor executor) : admitted(std::move(executor)) {}
  AutoResetEvent admitted;
  std::shared_ptr<void> token;  // of who is admitted; under the queue's mutex
};

Task<CreateQueue::Admission> CreateQueue::enter(TenantId tenant, Step step, size_t most) {
  const auto executor = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(executor);
  if (auto admission = admit(tenant, step, most, waiter)) co_return std::move(*admission);
  auto waiting = waiter->admitted.wait();
  co_await attempt_within(kTimeout, std::move(waiting));
  std::lock_guard lock(mutex_);
  if (!waiter->token) throw too_many_creates();
  co_return Admission{std::move(waiter->token), true};
}

std::optional<CreateQueue::Admission> CreateQueue::admit(const TenantId& tenant, Step step,
                                                         size_t most,
                                                         const std::shared_ptr<Waiter>& waiter) {
  std::lock_guard lock(mutex_);
  Tenant& one = tenants_[tenant.value];
  if (one.admitted < most) return Admission{token_of(tenant), one.admitted++ > 0};
  Line& line = step == Step::finish ? one.finishing : one.beginning;
  if (line.size() >= kMaxWaiting) throw too_many_creates();
  line.push_back(waiter);
  return std::nullopt;
}

std::shared_ptr<void> CreateQueue::token_of(const TenantId& tenant) {
  return std::shared_ptr<void>(this,
                               [self = shared_from_this(), tenant](void*) { self->leave(tenant); });
}

std::shared_ptr<CreateQueue::Waiter> CreateQueue::Tenant::take_next() {
  for (Line* line : {&finishing, &beginning})
    while (!line->empty()) {
      auto next = line->front().lock();
      line->pop_front();
      if (next) return next;
    }
  return nullptr;
}

// The next one takes the place over.
void CreateQueue::leave(const TenantId& tenant) {
  std::shared_ptr<Waiter> next;
  {
    std::lock_guard lock(mutex_);
    const auto found = tenants_.find(tenant.value);
    next = found->second.take_next();
    if (next)
      next->token = token_of(tenant);
    else if (--found->second.admitted == 0)
      tenants_.erase(found);
  }
  if (next) next->admitted.set();
}

}  // namespace sandgate
