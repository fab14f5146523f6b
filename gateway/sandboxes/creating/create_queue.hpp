#pragma once
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// Admits the transactions of a tenant's creates to the database, a few at once, in the order in
// which they came. There they wait for each other, by the lock of a budget or limit, and many would
// hold all connections meanwhile. Thread-safe.
class CreateQueue : public std::enable_shared_from_this<CreateQueue> {
 public:
  static constexpr size_t kMaxWaiting = 1024;  // of a tenant, at each step
  static constexpr std::chrono::seconds kTimeout{5};

  // Of a create: who finishes, with a sandbox made, goes before those who begin.
  enum class Step { begin, finish };
  struct Admission {
    std::shared_ptr<void> token;  // hold it until the transaction has ended
    bool is_crowded = false;  // others of the tenant were admitted already
  };
  // Waits until fewer than `most` of the tenant are admitted. Throws Error(unavailable) when
  // kMaxWaiting wait already, and after kTimeout.
  Task<Admission> enter(TenantId tenant, Step step, size_t most);

 private:
  struct Waiter;
  using Line = std::deque<std::weak_ptr<Waiter>>;  // expired: gave up
  struct Tenant {
    size_t admitted = 0;
    Line beginning, finishing;  // empty while there is room
    std::shared_ptr<Waiter> take_next();
  };
  // The admission, unless `waiter` has to wait for it.
  std::optional<Admission> admit(const TenantId& tenant, Step step, size_t most,
                                 const std::shared_ptr<Waiter>& waiter);
  std::shared_ptr<void> token_of(const TenantId& tenant);
  void leave(const TenantId& tenant);

  std::mutex mutex_;
  std::map<std::string, Tenant> tenants_;  // with creates admitted
};

}  // namespace sandgate
