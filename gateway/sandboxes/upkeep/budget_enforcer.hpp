#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "billing/budgets/budgets.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/keyed_work_queue.hpp"

namespace sandgate {

// Stops sandboxes whose budget is used up, as the budget says. Any number of replicas may run it.
class BudgetEnforcer {
 public:
  // Pauses a running sandbox, keeping what its backend can keep; throws on failure.
  using Pause = std::function<Task<void>(TenantId tenant, SandboxId id)>;

  // Without `pause`, every sandbox that has to stop is killed.
  BudgetEnforcer(Budgets& budgets, Lifecycle& lifecycle, Pause pause = {})
      : budgets_(budgets),
        lifecycle_(lifecycle),
        parts_(lifecycle.parts()),
        pause_(std::move(pause)),
        work_queue_(parts_.executor) {}

  // One round, to be called every 15 seconds. Returns how many sandboxes were due to stop. Does not
  // wait for backends, so that a hanging one delays no other tenant; the charges of sandboxes to
  // kill have ended when this returns.
  //
  // A sandbox to pause is killed instead if its backend cannot pause it at all. If the backend
  // refuses for now, the sandbox is killed once its money ends within 30 s; if the backend does not
  // answer or is not done, after some more tries of the reaper. A sandbox on another gateway's
  // machine is left to that gateway to pause. A paused sandbox is killed when the money for what it
  // keeps ends.
  //
  // While the database is away, sandboxes under a budget with `kill` are killed when the money set
  // aside for them is used up, as far as the last successful round knew it; all others run on.
  Task<size_t> begin();
  Task<void> drain() const { return work_queue_.drain(); }  // await before destruction

 private:
  using Deadlines = std::shared_ptr<const std::vector<BudgetDeadline>>;

  Task<size_t> begin_with_database();
  // Reads the sandboxes into the cache, so that they can be ended without the database.
  Task<void> warm_cache(Deadlines deadlines);
  Deadlines deadlines() const;
  size_t begin_without_database();
  Task<void> end(BudgetDeadline deadline, Deadlines known, Time asked);
  // Ends the charge of one to kill, and the sandbox in the background.
  Task<void> begin_kill(Halt halt);
  void post(const TenantId& tenant, const SandboxId& id, std::function<Task<void>()> work);
  Task<void> stop(Halt halt);  // pauses, or kills what cannot be paused
  // Pauses the sandbox unless that is under way or up to another gateway. False: it has to be
  // killed instead.
  Task<bool> try_pause(Halt halt, CachedSandboxPtr known);
  Task<bool> may_yet_be_paused(SandboxId id);  // one that is `pausing`

  Budgets& budgets_;
  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  Pause pause_;
  mutable std::mutex mutex_;
  Deadlines deadlines_ = std::make_shared<const std::vector<BudgetDeadline>>();  // as last read
  KeyedWorkQueue work_queue_;
};

}  // namespace sandgate
