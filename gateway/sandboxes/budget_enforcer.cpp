#include "gateway/sandboxes/budget_enforcer.hpp"

#include "gateway/core/log.hpp"
#include "gateway/sandboxes/for_each.hpp"
#include "gateway/sandboxes/uncancelled.hpp"

namespace sandgate {
namespace {

constexpr size_t kStopsAtOnce = 16;

}  // namespace

Task<size_t> BudgetEnforcer::enforce() {
  auto halts = co_await budgets_.extend(lifecycle_.parts().database);
  const size_t count = halts.size();
  auto work = [this](Halt halt) -> Task<void> { co_await stop(std::move(halt)); };
  co_await for_each(std::move(halts), kStopsAtOnce, work);
  co_return count;
}

Task<void> BudgetEnforcer::stop(Halt halt) {
  const auto known = co_await lifecycle_.get(halt.tenant, halt.sandbox);
  if (is_ended(known->record.state)) co_return;
  if (halt.action == OnExceeded::pause) {
    const bool done = co_await paused(halt, known);
    if (done) co_return;
  }
  log::info("a sandbox is ended with its budget",
            {{"sandbox", halt.sandbox.value}, {"budget", halt.budget}});
  co_await lifecycle_.kill(halt.tenant, halt.sandbox);
}

Task<bool> BudgetEnforcer::paused(Halt halt, CachedSandboxPtr known) {
  const SandboxRecord& record = known->record;
  if (record.state == SandboxState::paused || record.state == SandboxState::pausing) co_return true;
  const auto deployment = lifecycle_.parts().deployments.find(record.tenant, record.deployment);
  if (!pause_ || !deployment || !deployment->descriptor.can(Verb::pause)) co_return false;
  auto pausing = pause_(halt.tenant, halt.sandbox);
  const auto outcome = co_await attempt(std::move(pausing));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return true;
  log::warn("a sandbox was not paused when its budget ended",
            {{"sandbox", halt.sandbox.value}, {"reason", error->what()}});
  // What may yet work is tried again: the budget asks until it has stopped.
  if (!is_final(*error)) co_return true;
  if (error->code != ErrorCode::conflict) co_return false;
  const auto now = co_await lifecycle_.get(halt.tenant, halt.sandbox);
  co_return now->record.state != SandboxState::running;
}

}  // namespace sandgate
