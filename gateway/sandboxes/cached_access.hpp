#pragma once
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/activity.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate {

// SandboxAccess over the registry and its cache; opening a running sandbox needs no PostgreSQL.
class CachedAccess : public SandboxAccess {
 public:
  CachedAccess(Lifecycle& lifecycle, std::shared_ptr<Activity> activity)
      : lifecycle_(lifecycle), pausing_(lifecycle), activity_(std::move(activity)) {}

  Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) override;
  Task<Error> translate_failure(TenantId tenant, SandboxId id, Error failure) override;
  Task<bool> is_paused(TenantId tenant, SandboxId id) override;
  Task<void> report_gone(SandboxId id, std::string detail) override;

 private:
  // Counts the sandbox as in use while the handle lives; null when it needs no count or has ended.
  std::shared_ptr<void> use(const SandboxRecord& record);
  // The sandbox if the cache knows it and it need not be resumed; otherwise null.
  CachedSandboxPtr known_awake(const TenantId& tenant, const SandboxId& id);
  // The sandbox, after resuming it when its profile and the caller's role allow that; again for up
  // to 25 s if others pause it meanwhile.
  Task<CachedSandboxPtr> awake(const http::Caller& caller, SandboxId id);

  Lifecycle& lifecycle_;
  Pausing pausing_;
  std::shared_ptr<Activity> activity_;
};

}  // namespace sandgate
