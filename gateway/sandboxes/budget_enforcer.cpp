#include "gateway/sandboxes/budget_enforcer.hpp"

#include "gateway/core/log.hpp"
#include "gateway/placement/certainty.hpp"
#include "gateway/sandboxes/pause_rows.hpp"

namespace sandgate {
namespace {

// Two rounds: before a later one the money may have ended.
constexpr std::chrono::seconds kLastRounds{30};
// Six minutes where each fails at once, ten where the backend is at work on an archive.
constexpr int kBudgetPauseTries = 12;

}  // namespace

Task<size_t> BudgetEnforcer::enforce() {
  const size_t count = co_await begin();
  co_await errands_.rest();
  co_return count;
}

Task<size_t> BudgetEnforcer::begin() {
  const auto halts = co_await budgets_.extend(parts_.database);
  for (const Halt& halt : halts)
    errands_.send("tenant/" + halt.tenant.value, "stop/" + halt.sandbox.value,
                  [this, halt] { return stop(halt); });
  co_return halts.size();
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
  if (record.state == SandboxState::paused) co_return true;
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  // Its own gateway is told of it as well.
  if (deployment && is_elsewhere(record.id.value, record.backend_id, deployment->descriptor))
    co_return true;
  const bool money_ends = halt.covered_until < parts_.clock.now() + kLastRounds;
  if (record.state == SandboxState::pausing) {
    if (!money_ends) co_return true;
    auto asking = may_yet_be_paused(record.id);
    co_return co_await std::move(asking);
  }
  if (!pause_ || !deployment) co_return false;
  const Descriptor& offered = deployment->descriptor;
  if (offered.known && !offered.can(Verb::pause)) co_return false;
  auto pausing = pause_(halt.tenant, halt.sandbox);
  const auto outcome = co_await attempt(std::move(pausing));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return true;
  log::warn("a sandbox was not paused when its budget ended",
            {{"sandbox", halt.sandbox.value}, {"reason", error->what()}});
  // A pause that may still succeed is retried while there is money; then the limit prevails.
  if (is_hopeless(*error)) co_return false;
  if (!money_ends) co_return true;
  const auto now = co_await lifecycle_.get(halt.tenant, halt.sandbox);
  co_return now->record.state != SandboxState::running;
}

// Another gateway, or the reaper of this one, is at it.
Task<bool> BudgetEnforcer::may_yet_be_paused(SandboxId id) {
  auto read = [id](pqxx::work& tx) { return sandbox_rows::tries_put_off(tx, id); };
  auto reading = parts_.database.run(std::move(read));
  const int tries = co_await std::move(reading);
  co_return tries < kBudgetPauseTries;
}

}  // namespace sandgate
