#pragma once
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/activity.hpp"
#include "gateway/sandboxes/pausing.hpp"

namespace sandgate {

// SandboxAccess over the registry and its cache: no PostgreSQL on the way to a running sandbox.
class CachedAccess : public SandboxAccess {
 public:
  CachedAccess(Lifecycle& lifecycle, std::shared_ptr<Activity> activity)
      : lifecycle_(lifecycle), pausing_(lifecycle), activity_(std::move(activity)) {}

  Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) override;
  Task<Error> judge(TenantId tenant, SandboxId id, Error failure) override;
  Task<void> report_gone(SandboxId id, std::string detail) override;

 private:
  // Marks it as used, if there is one of the caller's; for as long as the handle lives.
  Task<std::shared_ptr<void>> in_use(const http::Caller& caller, SandboxId id);
  // The sandbox; one that waits to be resumed by use is resumed first.
  Task<CachedSandboxPtr> awake(const http::Caller& caller, SandboxId id);

  Lifecycle& lifecycle_;
  Pausing pausing_;
  std::shared_ptr<Activity> activity_;
};

}  // namespace sandgate
