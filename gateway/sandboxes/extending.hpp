#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Sets how long sandboxes live: at the backend first where that is longer, then in the row.
class Extending {
 public:
  explicit Extending(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // Sets the TTL, counted from now. Waits for a pause or resume under way. Throws not_found,
  // conflict (not running or paused), invalid (over the maximum TTL of the profile, or of the
  // backend for one that is to be paused), budget_exceeded, or the backend's error.
  Task<SandboxRecord> extend(TenantId tenant, SandboxId id, int64_t ttl_seconds);

 private:
  // These throw what extend() throws.
  void check_ttl(const SandboxRecord& record, int64_t ttl_seconds) const;
  Task<void> extend_at_backend(SandboxRecord record, int64_t ttl_seconds);
  // The backend, if it is to keep the sandbox longer, then the row; empty when the row has changed
  // state since.
  Task<std::optional<SandboxRecord>> extend_settled(SandboxRecord record, int64_t ttl_seconds);

  Lifecycle& lifecycle_;
  const LifecycleParts& parts_;  // the lifecycle's
};

}  // namespace sandgate
