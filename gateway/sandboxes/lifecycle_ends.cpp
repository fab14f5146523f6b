#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/ending/backend_end.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/uncancelled.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"

// How a sandbox ends on request.
namespace sandgate {
namespace {

// Between two tries to kill. One on our own machine costs next to nothing, and a node that crashed
// is back within seconds.
constexpr std::chrono::seconds kKillPauseHere{2}, kKillPauseElsewhere{60};
constexpr std::chrono::seconds kReadingTimeout{1};

bool is_prompt(const Meter::Measured& counted, Time asked) {
  return counted.sampled_at - asked < kEndTolerance;
}

// After a try in vain to end the sandbox.
void schedule_retry(const LifecycleParts& parts, pqxx::work& tx, const SandboxRecord& stopping) {
  const auto deployment = parts.deployments.find(stopping.tenant, stopping.deployment);
  const bool is_ours = deployment && !deployment->descriptor.machine.empty();
  if (is_ours && is_elsewhere(stopping.id.value, stopping.backend_id, deployment->descriptor))
    return sandbox_rows::make_due(tx, stopping.id);
  sandbox_rows::postpone(tx, stopping.id, is_ours ? kKillPauseHere : kKillPauseElsewhere);
}

// Backend, then row; books `reading` in the row's transaction. A try in vain postpones the next
// one, unless it was extra: then that is due when it was.
enum class Try { due, extra };
Task<EndResult> finish(const LifecycleParts& parts, SandboxRecord stopping,
                       std::optional<Meter::Measured> reading, Try kind) {
  const SandboxId id = stopping.id;
  const auto gone_at = co_await ended_by_its_time(parts, stopping);
  const bool killed = co_await kill_everywhere(parts, stopping);
  auto work = [&parts, stopping, killed, reading, gone_at, kind](pqxx::work& tx) {
    // Whoever else ends it locks the row before its meter and its budgets, too.
    if (reading) sandbox_rows::lock(tx, stopping.id);
    if (reading) parts.meter.observe(tx, stopping.id, *reading);
    if (killed) return end_row(parts, tx, stopping.id, gone_at);
    if (reading) parts.spend.release(tx, stopping.id, {});
    if (kind == Try::due) schedule_retry(parts, tx, stopping);
  };
  const auto outcome = co_await attempt(parts.database.run(std::move(work)));
  const bool ended = killed && !std::holds_alternative<Error>(outcome);
  ended ? parts.cache.evict(id) : parts.cache.invalidate(id);
  co_return ended ? EndResult::ended : EndResult::stopping;
}

// Kills a sandbox whose end is in the journal, while the database is away, and adds to the journal
// when it was gone.
Task<EndResult> kill_during_outage(const LifecycleParts& parts, SandboxRecord record,
                                   EndIntention intention) {
  const bool killed = co_await kill_everywhere(parts, std::move(record));
  if (killed) {
    // If this is lost, the reaper kills the sandbox again and books the time between as a loss.
    intention.gone_at = parts.clock.now();
    auto noting = parts.outage->append(std::move(intention));
    co_await attempt(std::move(noting));
  }
  co_return killed ? EndResult::ended : EndResult::stopping;
}

// The same unless it was gone before.
Task<EndResult> end_again(const LifecycleParts& parts, SandboxId id) {
  if (parts.outage->says_gone(id)) co_return EndResult::ended;
  const auto seen = parts.cache.last_seen(id);
  if (!seen) co_return EndResult::stopping;
  EndIntention again{seen->record.tenant, id, parts.clock.now(), std::string(kKilled), {}, {}, {}};
  auto work = [&parts, seen, again] { return kill_during_outage(parts, seen->record, again); };
  co_return co_await uncancelled(std::move(work));
}

Task<EndResult> end_without_database(const LifecycleParts& parts, SandboxRecord record,
                                     EndIntention intention) {
  co_await parts.outage->append(intention);
  parts.cache.invalidate(record.id);
  auto killing = kill_during_outage(parts, std::move(record), std::move(intention));
  co_return co_await std::move(killing);
}

// By `speculative`, or (null) in one statement. False: nothing was written, as for a late end,
// since a loss has to be booked with it.
Task<bool> try_write_end(Database& database, SandboxId id, Time at, Meter::Measured counted,
                         std::shared_ptr<SpeculativeEnd> speculative) {
  if (!is_prompt(counted, at)) co_return false;
  if (speculative) {
    auto waiting = speculative->result();
    const auto written = co_await std::move(waiting);
    co_return written.value_or(false);
  }
  auto work = [id, at, counted](pqxx::nontransaction& statement) {
    return sandbox_rows::try_fast_end(statement, id, at, counted);
  };
  auto stating = database.run_statement(std::move(work));
  co_return co_await std::move(stating);
}

}  // namespace

Task<EndResult> Lifecycle::kill(TenantId tenant, SandboxId id, std::optional<Time> asked,
                                std::string_view reason) {
  const Time at = asked.value_or(parts_.clock.now());
  if (parts_.outage && parts_.outage->has(tenant, id)) co_return co_await end_again(parts_, id);
  const auto known = co_await get_to_end(tenant, id);
  if (is_ended(known->record.state)) co_return EndResult::ended;
  auto work = [this, at, known, reason]() -> Task<EndResult> {
    auto under_way = backend_first_ends_.begin(known->record.id, reason);
    const auto deployment = parts_.deployments.find(known->record.tenant, known->record.deployment);
    const auto executor = co_await asio::this_coro::executor;
    const auto speculative =
        reason == kKilled ? try_speculative_end(deployment, known->record, at, executor) : nullptr;
    auto finishing = backend_first_ends_.finish(deployment, known->record, parts_.clock);
    const auto counted = co_await std::move(finishing);
    const bool is_first = counted && counted->sampled_at >= at;
    if (speculative)
      speculative->set_answer(is_first && is_prompt(*counted, at) ? counted : std::nullopt);
    if (is_first) {
      co_await write_end(known->record, at, *counted, speculative, reason);
      co_return EndResult::ended;
    }
    if (counted) {
      // It died before, or this is a repeated request whose first response was lost.
      under_way.reset();
      co_await note_gone(known->record.id, "it ended by itself");
      co_return EndResult::ended;
    }
    co_return co_await end_in_steps(known->record, at, reason);
  };
  co_return co_await uncancelled(std::move(work));
}

Task<EndResult> Lifecycle::kill_uncharged(TenantId tenant, SandboxId id) {
  if (parts_.outage && parts_.outage->has(tenant, id)) co_return co_await end_again(parts_, id);
  const auto known = co_await get_to_end(tenant, id);
  if (is_ended(known->record.state)) co_return EndResult::ended;
  auto work = [this, known] { return end_in_steps(known->record, Meter::kNeverBegan, kKilled); };
  co_return co_await uncancelled(std::move(work));
}

Task<EndResult> Lifecycle::end_in_steps(SandboxRecord known, Time at, std::string_view reason) {
  const SandboxId id = known.id;
  const auto counters = co_await last_reading(known);
  using Stopping = std::pair<std::optional<SandboxRecord>, Try>;
  auto transaction = [this, id, at, counters, reason](pqxx::work& tx) {
    auto stopping = sandbox_rows::set_stopping(tx, id, {.reason = std::string(reason)});
    if (!stopping) return Stopping(sandbox_rows::find(tx, id), Try::extra);
    end_charge(parts_, tx, id, at, counters);
    return Stopping(std::move(stopping), Try::due);
  };
  auto writing = parts_.database.run(std::move(transaction));
  const auto outcome = co_await attempt(std::move(writing));
  if (const Error* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::unavailable || !parts_.outage) throw *error;
    EndIntention intention{known.tenant, id, at, std::string(reason), {}, counters, {}};
    co_return co_await end_without_database(parts_, std::move(known), std::move(intention));
  }
  const auto& [record, kind] = std::get<0>(outcome);
  parts_.cache.invalidate(id);
  if (!record) throw Error::not_found("sandbox", id.value);
  // Another caller may be ending the sandbox too; killing twice is harmless.
  if (is_ended(record->state)) co_return EndResult::ended;
  co_return co_await finish(parts_, *record, std::nullopt, kind);
}

Task<std::optional<Meter::Measured>> Lifecycle::last_reading(SandboxRecord record) {
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  // A backend that was not asked yet for what it can do may count: its last numbers come once.
  const Descriptor& descriptor = deployment->descriptor;
  if (descriptor.known && !descriptor.can(Verb::metrics)) co_return std::nullopt;
  auto reading = deployment->backend->metrics(record.backend_id);
  const auto outcome = co_await attempt_within(kReadingTimeout, std::move(reading));
  const auto* metrics = std::get_if<SandboxMetrics>(&outcome);
  if (!metrics) co_return std::nullopt;
  co_return measured_of(*metrics, parts_.clock.now());
}

Task<EndResult> Lifecycle::finish_stopping(SandboxRecord stopping) {
  const auto reading = co_await last_reading(stopping);
  co_return co_await finish(parts_, std::move(stopping), reading, Try::due);
}

std::shared_ptr<SpeculativeEnd> Lifecycle::try_speculative_end(
    const DeploymentPtr& deployment, const SandboxRecord& record, Time at,
    const asio::any_io_executor& executor) {
  const bool may_hold = parts_.database.options().connections >= SpeculativeEnd::kConnectionShare;
  const bool suits =
      BackendFirstEnds::suits(record, deployment) && backend_first_ends_.is_only_one();
  if (!may_hold || !suits || parts_.optimistic_creates->has_limits(record.tenant)) return nullptr;
  return start_speculative_end(parts_.database, executor, record.id, at);
}

Task<void> Lifecycle::write_end(SandboxRecord gone, Time at, Meter::Measured counted,
                                std::shared_ptr<SpeculativeEnd> speculative,
                                std::string_view reason) {
  const SandboxId id = gone.id;
  // An end in the journal has the more exact time.
  if (parts_.outage && parts_.outage->has(id)) co_return;
  auto in_steps = [this, id, at, counted, reason](pqxx::work& tx) {
    if (sandbox_rows::set_stopping(tx, id, {.reason = std::string(reason)}))
      end_charge(parts_, tx, id, at, counted);
    end_row(parts_, tx, id, counted.sampled_at);
    return true;
  };
  Outcome<bool> outcome = false;
  // The one statement is for ends by a call.
  if (reason == kKilled) {
    auto writing_at_once = try_write_end(parts_.database, id, at, counted, std::move(speculative));
    outcome = co_await attempt(std::move(writing_at_once));
  }
  if (const bool* done = std::get_if<bool>(&outcome); done && !*done) {
    auto writing = parts_.database.run(std::move(in_steps));
    outcome = co_await attempt(std::move(writing));
  }
  if (const Error* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::unavailable || !parts_.outage) throw *error;
    EndIntention intention{gone.tenant,       id, at, std::string(reason), {}, counted,
                           counted.sampled_at};
    co_await parts_.outage->append(std::move(intention));
    co_return parts_.cache.invalidate(id);
  }
  parts_.cache.evict(id);
}

}  // namespace sandgate
