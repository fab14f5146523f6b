#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "gateway/placement/backend_failure.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"

namespace sandgate {
namespace {

// Two rounds: before a later one the money may have ended.
constexpr std::chrono::seconds kLastRounds{30};
// Six minutes where each fails at once, ten where the backend is at work on an archive.
constexpr int kBudgetPauseTries = 12;
constexpr std::string_view kBudget = "budget";  // why it ends
constexpr size_t kEndsAtOnce = 4;
constexpr int kReadInARound = 500;  // rows; the rest in the next ones, the most urgent first

}  // namespace

Task<size_t> BudgetEnforcer::begin() {
  auto looking = begin_with_database();
  const auto outcome = co_await attempt(std::move(looking));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return std::get<size_t>(outcome);
  if (error->code != ErrorCode::unavailable) throw *error;
  co_return begin_without_database();
}

Task<size_t> BudgetEnforcer::begin_with_database() {
  auto halts = co_await budgets_.renew(parts_.database);
  const size_t count = halts.size();
  auto begin_one = [this](Halt halt) -> Task<void> {
    if (halt.action == OnExceeded::kill)
      co_await begin_kill(std::move(halt));
    else
      post(halt.tenant, halt.sandbox, [this, halt] { return stop(halt); });
  };
  co_await for_each_concurrent(std::move(halts), kEndsAtOnce, begin_one);
  auto reading = budgets_.deadlines(parts_.database);
  auto deadlines = co_await std::move(reading);
  const auto known = std::make_shared<const std::vector<BudgetDeadline>>(std::move(deadlines));
  {
    const std::lock_guard lock(mutex_);
    deadlines_ = known;
  }
  auto knowing = warm_cache(known);
  co_await std::move(knowing);
  co_return count;
}

void BudgetEnforcer::post(const TenantId& tenant, const SandboxId& id,
                          std::function<Task<void>()> work) {
  work_queue_.post("tenant/" + tenant.value, "stop/" + id.value, std::move(work));
}

// However long the backends take for the others in its queue, it is charged no longer.
Task<void> BudgetEnforcer::begin_kill(Halt halt) {
  if (parts_.outage && parts_.outage->has(halt.sandbox)) co_return;
  auto work = [this, id = halt.sandbox](pqxx::work& tx) {
    auto stopping = sandbox_rows::set_stopping(tx, id, {.reason = std::string(kBudget)});
    if (stopping) end_charge(parts_, tx, id);
    return stopping;
  };
  auto writing = parts_.database.run(std::move(work));
  const auto stopping = co_await std::move(writing);
  if (!stopping) co_return;
  parts_.cache.invalidate(halt.sandbox);
  log::info("a sandbox is ended with its budget",
            {{"sandbox", halt.sandbox.value}, {"budget", halt.budget}});
  post(halt.tenant, halt.sandbox,
       [this, record = *stopping]() -> Task<void> { co_await lifecycle_.finish_stopping(record); });
}

Task<void> BudgetEnforcer::warm_cache(Deadlines deadlines) {
  int read = 0;
  for (const BudgetDeadline& deadline : *deadlines) {
    if (parts_.cache.last_seen(deadline.sandbox)) continue;
    if (++read > kReadInARound) co_return;
    auto finding = lifecycle_.find(deadline.tenant, deadline.sandbox);
    co_await attempt(std::move(finding));
  }
}

BudgetEnforcer::Deadlines BudgetEnforcer::deadlines() const {
  const std::lock_guard lock(mutex_);
  return deadlines_;
}

size_t BudgetEnforcer::begin_without_database() {
  const Deadlines known = deadlines();
  const Time now = parts_.clock.now();
  size_t count = 0;
  for (; count < known->size() && (*known)[count].until < now + kLastRounds; ++count) {
    const BudgetDeadline& deadline = (*known)[count];
    post(deadline.tenant, deadline.sandbox,
         [this, deadline, known, now] { return end(deadline, known, now); });
  }
  return count;
}

Task<void> BudgetEnforcer::end(BudgetDeadline deadline, Deadlines known, Time asked) {
  if (deadlines() != known) co_return;  // the database was asked meanwhile
  log::info("a sandbox is ended with what is set aside for it: the database is away",
            {{"sandbox", deadline.sandbox.value}, {"budget", deadline.budget}});
  auto killing = lifecycle_.kill(deadline.tenant, deadline.sandbox, asked, kBudget);
  co_await std::move(killing);
}

Task<void> BudgetEnforcer::stop(Halt halt) {
  const auto known = co_await lifecycle_.get(halt.tenant, halt.sandbox);
  if (is_ended(known->record.state)) co_return;
  const bool done = co_await try_pause(halt, known);
  if (done) co_return;
  log::info("a sandbox is ended with its budget",
            {{"sandbox", halt.sandbox.value}, {"budget", halt.budget}});
  co_await lifecycle_.kill(halt.tenant, halt.sandbox, std::nullopt, kBudget);
}

Task<bool> BudgetEnforcer::try_pause(Halt halt, CachedSandboxPtr known) {
  const SandboxRecord& record = known->record;
  if (record.state == SandboxState::paused) co_return true;
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  // The gateway on whose machine it runs finds the same halt, and pauses it.
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
  if (is_permanent_failure(*error)) co_return false;
  if (!money_ends) co_return true;
  const auto now = co_await lifecycle_.get(halt.tenant, halt.sandbox);
  co_return now->record.state != SandboxState::running;
}

// Whether another gateway, or this one's reaper, may still pause it.
Task<bool> BudgetEnforcer::may_yet_be_paused(SandboxId id) {
  auto read = [id](pqxx::work& tx) { return sandbox_rows::count_postponed(tx, id); };
  auto reading = parts_.database.run(std::move(read));
  const int tries = co_await std::move(reading);
  co_return tries < kBudgetPauseTries;
}

}  // namespace sandgate
