#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/uncancelled.hpp"

// How a sandbox ends on request.
namespace sandgate {
namespace {

bool is_prompt(const Meter::Measured& counted, Time asked) {
  return counted.sampled_at - asked < kEndTolerance;
}

}  // namespace

Task<EndResult> Lifecycle::kill(TenantId tenant, SandboxId id, std::optional<Time> asked,
                                std::string_view reason) {
  const Time at = asked.value_or(parts_.clock.now());
  if (parts_.outage && parts_.outage->has(tenant, id)) co_return co_await end_again(id);
  const auto known = co_await get_to_end(tenant, id);
  if (is_ended(known->record.state)) co_return EndResult::ended;
  auto work = [this, at, known, reason]() -> Task<EndResult> {
    auto under_way = backend_first_ends_.begin(known->record.id);
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

Task<EndResult> Lifecycle::end_again(SandboxId id) {
  if (parts_.outage->says_gone(id)) co_return EndResult::ended;
  const auto seen = parts_.cache.last_seen(id);
  if (!seen) co_return EndResult::stopping;
  EndIntention again{seen->record.tenant, id, parts_.clock.now(), std::string(kKilled), {}, {}, {}};
  auto work = [this, seen, again] { return kill_during_outage(seen->record, again); };
  co_return co_await uncancelled(std::move(work));
}

Task<EndResult> Lifecycle::kill_uncharged(TenantId tenant, SandboxId id) {
  if (parts_.outage && parts_.outage->has(tenant, id)) co_return co_await end_again(id);
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
    end_charge(tx, id, at, counters);
    return Stopping(std::move(stopping), Try::due);
  };
  auto writing = parts_.database.run(std::move(transaction));
  const auto outcome = co_await attempt(std::move(writing));
  if (const Error* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::unavailable || !parts_.outage) throw *error;
    EndIntention intention{known.tenant, id, at, std::string(reason), {}, counters, {}};
    co_return co_await end_without_database(std::move(known), std::move(intention));
  }
  const auto& [record, kind] = std::get<0>(outcome);
  parts_.cache.invalidate(id);
  if (!record) throw Error::not_found("sandbox", id.value);
  // Another caller may be ending the sandbox too; killing twice is harmless.
  if (is_ended(record->state)) co_return EndResult::ended;
  co_return co_await finish(*record, std::nullopt, kind);
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

Task<bool> Lifecycle::try_write_end(SandboxId id, Time at, Meter::Measured counted,
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
  auto stating = parts_.database.run_statement(std::move(work));
  co_return co_await std::move(stating);
}

Task<void> Lifecycle::write_end(SandboxRecord gone, Time at, Meter::Measured counted,
                                std::shared_ptr<SpeculativeEnd> speculative,
                                std::string_view reason) {
  const SandboxId id = gone.id;
  // An end in the journal has the more exact time.
  if (parts_.outage && parts_.outage->has(id)) co_return;
  auto in_steps = [this, id, at, counted, reason](pqxx::work& tx) {
    if (sandbox_rows::set_stopping(tx, id, {.reason = std::string(reason)}))
      end_charge(tx, id, at, counted);
    end_row(tx, id, counted.sampled_at);
    return true;
  };
  Outcome<bool> outcome = false;
  // The one statement is for ends by a call.
  if (reason == kKilled) {
    auto writing_at_once = try_write_end(id, at, counted, std::move(speculative));
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
