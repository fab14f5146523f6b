#pragma once
#include <functional>

#include "billing/budgets.hpp"
#include "gateway/sandboxes/errands.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Stops sandboxes whose money has ended, as their budgets say. Any number of replicas may.
class BudgetEnforcer {
 public:
  // Pauses a running sandbox, keeping what its backend can keep; throws when it can't.
  using Pause = std::function<Task<void>(TenantId tenant, SandboxId id)>;

  // Without `pause` every sandbox that has to stop is killed.
  BudgetEnforcer(Budgets& budgets, Lifecycle& lifecycle, Pause pause = {})
      : budgets_(budgets),
        lifecycle_(lifecycle),
        parts_(lifecycle.parts()),
        pause_(std::move(pause)),
        errands_(parts_.executor) {}

  // One round, for a job of every 15 seconds. Returns how many were stopped. One that its backend
  // can't pause is killed; one whose backend does not answer is, once its money is about to end.
  // One that is paused already stays so, and its storage is charged.
  Task<size_t> enforce();
  // The same, without waiting for backends: one that hangs keeps no other tenant's money waiting.
  Task<size_t> begin();

 private:
  Task<void> stop(Halt halt);
  // True when there is nothing to kill: it is paused, or may yet be.
  Task<bool> paused(Halt halt, CachedSandboxPtr known);

  Budgets& budgets_;
  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  Pause pause_;
  Errands errands_;
};

}  // namespace sandgate
