#include "gateway/sandboxes/pausing.hpp"

#include "billing/prices/rating.hpp"
#include "gateway/core/both.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/placement/backend_failure.hpp"
#include "gateway/sandboxes/creating/price_scope.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/paused_meter.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/rows/snapshot_rows.hpp"
#include "gateway/sandboxes/uncancelled.hpp"
#include "gateway/sandboxes/unfinished_pause.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"
#include "providers/backoff.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kPauseTimeout{20};
constexpr std::chrono::seconds kExtendTimeout{5};
constexpr std::chrono::seconds kLastExtend{2};  // what a last try and the pause before it may take
// A sandbox whose time is over and whose pause was refused: the reaper tries again by then.
constexpr std::chrono::seconds kPauseAgain{300};
constexpr std::chrono::milliseconds kCopyPause{50};  // between checks for a copy being made
constexpr int kPauseTries = 3;  // the sandbox may be paused and resumed concurrently

Resources kept_resources(const SandboxRecord& record, MeterState metered) {
  Resources kept = record.resources;
  kept.milli_vcpu = 0;
  if (metered != MeterState::paused_memory) kept.memory_mib = 0;
  return kept;
}

SandboxState before(SandboxState result) {
  return result == SandboxState::paused ? SandboxState::running : SandboxState::paused;
}

template <class T>
Task<T> unmark_after(Task<T> task, std::shared_ptr<void> mark) {
  T value = co_await std::move(task);
  mark.reset();
  co_return value;
}

}  // namespace

MeterState Pausing::metered_as(const SandboxRecord& paused) const {
  const auto deployment = parts_.deployments.find(paused.tenant, paused.deployment);
  return metered_while_paused(paused.kept.value_or(Keeps::nothing),
                              deployment ? deployment->descriptor : Descriptor());
}

std::optional<Money> Pausing::charge_of(const SandboxRecord& record,
                                        const Resources& metered) const {
  const auto prices = parts_.prices.snapshot();
  return charge_per_hour(*prices, price_scope_of(parts_.deployments, record), metered,
                         parts_.clock.now());
}

void Pausing::reserve_paused(pqxx::work& tx, SandboxRecord record) const {
  const auto charge = charge_of(record, kept_resources(record, metered_as(record)));
  record.charge_per_hour.reset();
  if (charge) {
    record.charge_per_hour = charge->amount.to_string();
    record.currency = charge->currency;
  }
  if (record.on_expiry == EndAction::pause) record.expires_at = parts_.clock.now() + kPausedTtl;
  parts_.spend.adjust(tx, record, {});
}

bool Pausing::is_on_own_machine(const SandboxRecord& record) const {
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  return deployment &&
         sandgate::is_on_own_machine(record.id.value, record.backend_id, deployment->descriptor);
}

Task<SandboxRecord> Pausing::pause(TenantId tenant, SandboxId id, Keeps requested, bool waits) {
  for (int tries = kPauseTries;; --tries) {
    const SandboxRecord record = co_await lifecycle_.settled(tenant, id);
    if (record.state == SandboxState::paused) co_return record;
    if (record.state != SandboxState::running) throw wrong_state(record);
    if (tries == 0) throw is_being_changed();
    const auto deployment = lifecycle_.deployment_of(record);
    // The row comes before the backend, and its own gateway would carry out what the row says
    // although this one refused it.
    check_is_here(record.id.value, record.backend_id, deployment->descriptor);
    check_can(deployment->descriptor, Verb::pause,
              "the sandbox's backend cannot pause: " + record.provider);
    auto work = [this, record, requested, waits]() -> Task<MaybeRecord> {
      return begin_pause(record, requested, waits);
    };
    const auto paused = co_await uncancelled(std::move(work));
    if (paused) co_return *paused;
  }
}

Task<Pausing::MaybeRecord> Pausing::write_intention(SandboxId id, SandboxState state,
                                                    Change change) {
  auto changing = parts_.database.run(std::move(change));
  const auto outcome = co_await attempt(std::move(changing));
  parts_.cache.invalidate(id);
  if (const auto* changed = std::get_if<MaybeRecord>(&outcome)) co_return *changed;
  const Error& error = std::get<Error>(outcome);
  if (error.code != ErrorCode::unavailable) throw error;
  // The commit may have succeeded; that row would not change until its lease ends.
  auto look = parts_.database.run([id](pqxx::work& tx) { return sandbox_rows::find(tx, id); });
  const auto found = co_await attempt(std::move(look));
  const auto* record = std::get_if<MaybeRecord>(&found);
  if (!record) leave_unfinished(lifecycle_, id);
  if (!record || !*record || (*record)->state != state) throw error;
  co_return *record;
}

Task<Pausing::MaybeRecord> Pausing::begin_pause(SandboxRecord running, Keeps requested,
                                                bool waits) {
  const SandboxId id = running.id;
  const bool may_be_lost = !waits && is_on_own_machine(running);
  auto write = [id, requested, waits, may_be_lost](pqxx::work& tx) {
    if (may_be_lost) commit_asynchronously(tx);
    return sandbox_rows::set_pausing(tx, id, requested, sandbox_rows::kPauseLease, waits);
  };
  // Use that begins from here on waits for the row instead of being frozen midway.
  auto mark = lifecycle_.transitions().mark_pausing(id);
  auto setting_out = write_intention(id, SandboxState::pausing, std::move(write));
  auto writing = unmark_after(std::move(setting_out), std::move(mark));
  auto reading = lifecycle_.last_reading(std::move(running));
  auto ends = both(std::move(writing), std::move(reading));
  const auto [pausing, counters] = co_await std::move(ends);
  if (!pausing) co_return std::nullopt;  // another writer was first
  co_return co_await carry_out_pause(*pausing, counters);
}

Task<SandboxRecord> Pausing::resume(TenantId tenant, SandboxId id) {
  std::optional<Keeps> kept;
  for (int tries = kPauseTries;; --tries) {
    SandboxRecord record = co_await lifecycle_.settled(tenant, id);
    if (record.state == SandboxState::running) {
      if (kept) record.kept = kept;  // of the pause that this call was to end
      co_return record;
    }
    if (record.state != SandboxState::paused) throw wrong_state(record);
    if (tries == 0) throw is_being_changed();
    check_is_here(record.id.value, record.backend_id, lifecycle_.deployment_of(record)->descriptor);
    kept = record.kept;
    auto work = [this, record]() -> Task<SandboxRecord> { return begin_resume(record); };
    SandboxRecord resumed = co_await uncancelled(std::move(work));
    resumed.kept = kept;
    if (resumed.state == SandboxState::running) co_return resumed;
  }
}

Task<SandboxRecord> Pausing::begin_resume(SandboxRecord paused) {
  const SandboxId id = paused.id;
  const bool may_be_lost = is_on_own_machine(paused);
  auto write = [this, id, may_be_lost](pqxx::work& tx) {
    if (may_be_lost) commit_asynchronously(tx);
    auto resuming = sandbox_rows::set_resuming(tx, id, sandbox_rows::kPauseLease);
    if (!resuming) return resuming;
    // Running costs more than being paused, so the budget has to cover it again.
    const PlannedCharge charge{
        charge_of(*resuming, resuming->resources), {}, resuming->other_currencies};
    parts_.spend.resume(tx, *resuming, charge);
    return resuming;
  };
  const auto resuming = co_await write_intention(id, SandboxState::resuming, std::move(write));
  if (!resuming) co_return paused;  // another writer was first
  co_return co_await carry_out_resume(*resuming);
}

Task<std::optional<Error>> Pausing::set_backend_ttl(DeploymentPtr deployment, SandboxRecord record,
                                                    std::chrono::seconds ttl) {
  const std::chrono::seconds most(deployment->descriptor.limits.max_ttl_seconds);
  // With the pause or resume itself it must not take longer than the lease.
  const auto limit = std::chrono::steady_clock::now() + kExtendTimeout;
  for (Backoff pause;;) {
    const auto left = limit - std::chrono::steady_clock::now();
    auto extending = deployment->backend->extend(record.backend_id, ttl);
    const auto outcome = co_await attempt_within(left, std::move(extending));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return std::nullopt;
    // A limit of the backend is still longer than what is left at the end of its time.
    if (error->code == ErrorCode::invalid && most.count() > 0 && most < ttl) {
      ttl = most;
      continue;
    }
    const bool passes = !is_definite_failure(*error) && !are_credentials_refused(*error);
    if (!passes || std::chrono::steady_clock::now() + kLastExtend > limit) co_return *error;
    co_await pause.wait();
  }
}

// The clock of some backends goes on while a sandbox is paused. One that is not told so ends what
// its tenant was told is kept.
Task<void> Pausing::let_wait(DeploymentPtr deployment, SandboxRecord record) {
  auto lengthening = set_backend_ttl(std::move(deployment), record, kPausedTtl);
  const auto error = co_await std::move(lengthening);
  if (error)
    log::info("a backend may end a paused sandbox by its own clock",
              {{"sandbox", record.id.value}, {"reason", error->what()}});
}

Task<Outcome<Keeps>> Pausing::ask_to_pause(DeploymentPtr deployment, SandboxRecord record) {
  if (record.on_expiry == EndAction::pause) co_await let_wait(deployment, record);
  auto pausing = deployment->backend->pause(record.backend_id, record.kept.value_or(Keeps::memory));
  co_return co_await attempt_within(kPauseTimeout, std::move(pausing));
}

// A resume that is blocked by a copy of the disk is repeated until the copy is made.
Task<Outcome<std::monostate>> Pausing::ask_to_resume(DeploymentPtr deployment,
                                                     SandboxRecord record) {
  const auto limit = std::chrono::steady_clock::now() + kPauseTimeout;
  for (bool copied = true;;) {
    const auto left = limit - std::chrono::steady_clock::now();
    auto resuming = deployment->backend->resume(record.backend_id);
    const auto outcome = co_await attempt_within(left, std::move(resuming));
    const auto* error = std::get_if<Error>(&outcome);
    const bool waits = error && error->code == ErrorCode::conflict && copied;
    if (!waits || std::chrono::steady_clock::now() + kCopyPause > limit) co_return outcome;
    // One more try after that: the copy may have ended just now.
    copied = co_await is_copied(record.id);
    co_await sleep_for(kCopyPause);
  }
}

Task<bool> Pausing::is_copied(SandboxId id) {
  auto look = [id](pqxx::work& tx) { return snapshot_rows::is_copied(tx, id); };
  auto looking = parts_.database.run(std::move(look));
  const auto outcome = co_await attempt(std::move(looking));
  if (std::holds_alternative<Error>(outcome)) co_return false;
  co_return std::get<bool>(outcome);
}

Task<SandboxRecord> Pausing::carry_out(SandboxRecord record) {
  if (record.state != SandboxState::pausing) co_return co_await carry_out_resume(record);
  const auto counters = co_await lifecycle_.last_reading(record);
  co_return co_await carry_out_pause(record, counters);
}

Task<SandboxRecord> Pausing::carry_out_pause(SandboxRecord record,
                                             std::optional<Meter::Measured> counters) {
  const auto deployment = co_await backend_of(record);
  const auto outcome = co_await ask_to_pause(deployment, record);
  if (const auto* kept = std::get_if<Keeps>(&outcome))
    co_return co_await keep_paused(record.id, *kept, counters);
  auto giving_up = give_up(record, std::get<Error>(outcome));
  const Error refusal = co_await std::move(giving_up);
  throw refusal;
}

Task<SandboxRecord> Pausing::carry_out_resume(SandboxRecord record) {
  const auto deployment = co_await backend_of(record);
  const auto outcome = co_await ask_to_resume(deployment, record);
  if (const auto* failure = std::get_if<Error>(&outcome)) {
    auto giving_up = give_up(record, *failure);
    const Error refusal = co_await std::move(giving_up);
    throw refusal;
  }
  // Before the row, for which an extend and a pause wait: later it could undo them at the backend.
  if (record.on_expiry == EndAction::pause) {
    auto shortening = shorten(deployment, record, std::chrono::seconds(record.ttl_seconds));
    co_await std::move(shortening);
  }
  co_return co_await keep_running(record);
}

Task<DeploymentPtr> Pausing::backend_of(SandboxRecord record) {
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (deployment) co_return deployment;
  co_await end_lease(record.id);
  throw Error(ErrorCode::unavailable, "the sandbox's deployment is gone");
}

Task<Error> Pausing::give_up(SandboxRecord record, Error error) {
  const bool certain = is_definite_failure(error);
  auto writing = certain ? undo(record, error) : end_lease(record.id);
  co_await std::move(writing);
  if (!certain) co_return error;
  auto translating = translate_refusal(lifecycle_, record.tenant, record.id, std::move(error));
  co_return co_await std::move(translating);
}

Task<SandboxRecord> Pausing::write_result(SandboxId id, SandboxState state, Change change) {
  const auto mark = parts_.cache.mark_of(id);
  auto writing = write_or_end_lease(id, std::move(change));
  const auto written = co_await std::move(writing);
  const bool kept = written && written->state == state;
  kept ? parts_.cache.store(*written, mark) : parts_.cache.invalidate(id);
  if (kept) co_return *written;
  if (!written) throw wrong_state(SandboxState::stopped);
  const bool intention_is_lost = written->state == before(state) && is_on_own_machine(*written);
  if (!intention_is_lost) throw wrong_state(*written);
  leave_unfinished(lifecycle_, id);
  throw Error(ErrorCode::unavailable, "the database was restarted meanwhile: look again soon");
}

Task<SandboxRecord> Pausing::keep_paused(SandboxId id, Keeps kept,
                                         std::optional<Meter::Measured> counters) {
  auto write = [this, id, kept, counters](pqxx::work& tx) {
    auto paused = sandbox_rows::set_paused(tx, id, kept);
    if (!paused) return sandbox_rows::find(tx, id);
    parts_.meter.change(tx, id, metered_as(*paused), paused->resources, counters);
    reserve_paused(tx, *paused);
    return paused;
  };
  co_return co_await write_result(id, SandboxState::paused, std::move(write));
}

Task<SandboxRecord> Pausing::keep_running(SandboxRecord resuming) {
  const SandboxId id = resuming.id;
  auto write = [this, resuming](pqxx::work& tx) {
    auto running = sandbox_rows::set_resumed(tx, resuming.id);
    if (!running) return sandbox_rows::find(tx, resuming.id);
    parts_.meter.change(tx, resuming.id, MeterState::running, running->resources);
    // Its time may have ended while the backend resumed it: only the rest of it was reserved.
    if (running->expires_at != resuming.expires_at) parts_.spend.adjust(tx, *running, {});
    return running;
  };
  co_return co_await write_result(id, SandboxState::running, std::move(write));
}

Task<Pausing::MaybeRecord> Pausing::write_or_end_lease(SandboxId id, Change change) {
  auto writing = parts_.database.run(std::move(change));
  auto outcome = co_await attempt(std::move(writing));
  if (auto* written = std::get_if<MaybeRecord>(&outcome)) co_return std::move(*written);
  parts_.cache.invalidate(id);
  leave_unfinished(lifecycle_, id);
  throw std::get<Error>(outcome);
}

Task<void> Pausing::end_lease(SandboxId id) {
  auto write = [id](pqxx::work& tx) { sandbox_rows::postpone_pausing(tx, id); };
  const auto outcome = co_await attempt(parts_.database.run(std::move(write)));
  if (std::holds_alternative<Error>(outcome)) leave_unfinished(lifecycle_, id);
}

Task<void> Pausing::undo(SandboxRecord record, Error error) {
  if (error.code == ErrorCode::not_found) {
    co_await lifecycle_.note_gone(record.id, "the backend does not know it any more");
    co_return;
  }
  // Before the row, as at a resume.
  if (record.state == SandboxState::pausing && record.on_expiry == EndAction::pause)
    co_await restore_ttl(record);
  auto write = [this, id = record.id](pqxx::work& tx) {
    auto back = sandbox_rows::revert(tx, id);
    if (back && back->state == SandboxState::paused) reserve_paused(tx, *back);
    return back;
  };
  auto writing = write_or_end_lease(record.id, std::move(write));
  co_await std::move(writing);
  parts_.cache.invalidate(record.id);
}

Task<void> Pausing::restore_ttl(SandboxRecord pausing) {
  const auto deployment = parts_.deployments.find(pausing.tenant, pausing.deployment);
  if (!deployment) co_return;
  const auto left =
      std::chrono::ceil<std::chrono::seconds>(pausing.expires_at - parts_.clock.now());
  auto shortening = shorten(deployment, std::move(pausing), std::max(left, kPauseAgain));
  co_await std::move(shortening);
}

Task<void> Pausing::shorten(DeploymentPtr deployment, SandboxRecord record,
                            std::chrono::seconds ttl) {
  // Another gateway may have carried it out too, and have paused the sandbox since.
  auto read = [id = record.id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto outcome = co_await attempt(parts_.database.run(std::move(read)));
  const auto* row = std::get_if<MaybeRecord>(&outcome);
  if (!row || !*row || (*row)->state != record.state) co_return;
  auto shortening = set_backend_ttl(deployment, record, backend_ttl(ttl, deployment->descriptor));
  const auto error = co_await std::move(shortening);
  if (error)
    log::info("a backend may keep a sandbox beyond its time",
              {{"sandbox", record.id.value}, {"reason", error->what()}});
}

}  // namespace sandgate
