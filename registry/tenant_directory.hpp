#pragma once
#include <memory>

#include "gateway/core/notifications.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate {

// A cache of tenants for every request; entries are at most a second old, and expire on a NOTIFY.
class TenantDirectory {
 public:
  // To be constructed before notifications.start(); both must outlive the directory. Sets the
  // store's on_change.
  TenantDirectory(TenantStore& store, Notifications& notifications)
      : cache_({}, [&store](std::string id) { return store.find(TenantId{std::move(id)}); }) {
    store.on_change([this](const std::string& id) { cache_.expire(id); });
    notifications.subscribe(kTenantsChannel, [this](const std::string& id) {
      id.empty() ? cache_.expire_all() : cache_.expire(id);
    });
  }

  // Null when there is no such tenant. While the database is down, serves entries of the last
  // minute.
  Task<std::shared_ptr<const Tenant>> find(TenantId id) { return cache_.get(std::move(id.value)); }
  // Without waiting; empty when no fresh entry is cached.
  std::optional<std::shared_ptr<const Tenant>> peek(const TenantId& id) {
    return cache_.peek(id.value);
  }
  // Without waiting: the last known value of any age, or null.
  std::shared_ptr<const Tenant> last_known(const TenantId& id) {
    return cache_.last_known(id.value);
  }
  // False when unknown because the database is down, so that running sandboxes stay reachable.
  Task<bool> is_suspended(TenantId id) {
    if (const auto known = peek(id)) co_return *known && (*known)->suspended;
    auto finding = find(std::move(id));
    const auto found = co_await attempt(std::move(finding));
    if (std::holds_alternative<Error>(found)) co_return false;
    const auto& tenant = std::get<std::shared_ptr<const Tenant>>(found);
    co_return tenant && tenant->suspended;
  }

 private:
  RefreshingCache<Tenant> cache_;
};

}  // namespace sandgate
