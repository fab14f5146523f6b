#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// The TTL given to a backend for a paused sandbox, so that the backend's own timer never ends it.
inline constexpr std::chrono::seconds kPausedTtl{365 * 24 * 3600};

// Pauses and resumes sandboxes. The intention is written to the row first. After a crash the reaper
// carries it out again, which is safe since both verbs are idempotent on backends. On our own
// machine a database that crashes may lose the intention: see leave_unfinished().
class Pausing {
 public:
  explicit Pausing(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // Sets the sandbox to `paused`; `requested` is the state to keep, `kept` of the result what was
  // kept. `waits`: it outlives its TTL while paused, as with on_expiry `pause`; being resumed gives
  // it its TTL anew. A paused sandbox is returned as it is. Throws not_found, conflict,
  // unsupported, and unavailable or timeout when the backend did not answer; then the row stays
  // `pausing` and the reaper retries.
  Task<SandboxRecord> pause(TenantId tenant, SandboxId id, Keeps requested, bool waits = false);
  // Sets the sandbox to `running`; `kept` of the result is what had survived. Waits for a pause or
  // snapshot under way. Throws as pause(), and budget_exceeded.
  Task<SandboxRecord> resume(TenantId tenant, SandboxId id);

  // Carries out the transition of a row in `pausing` or `resuming`. Throws when the backend refused
  // (the row is set back) or did not answer (the row stays).
  Task<SandboxRecord> carry_out(SandboxRecord record);

 private:
  using MaybeRecord = std::optional<SandboxRecord>;
  using Change = std::function<MaybeRecord(pqxx::work&)>;
  // Writes the intention `state`, pausing or resuming; empty when another writer was first.
  Task<MaybeRecord> write_intention(SandboxId id, SandboxState state, Change change);
  // Reads the backend's counters in parallel with writing the intention.
  Task<MaybeRecord> begin_pause(SandboxRecord running, Keeps requested, bool waits);
  Task<SandboxRecord> begin_resume(SandboxRecord paused);
  Task<SandboxRecord> carry_out_pause(SandboxRecord record,
                                      std::optional<Meter::Measured> counters);
  Task<SandboxRecord> carry_out_resume(SandboxRecord record);
  Task<DeploymentPtr> backend_of(SandboxRecord record);  // throws unavailable
  // Where the row can be brought into line with the machine, so that the intention may be lost.
  bool is_on_own_machine(const SandboxRecord& record) const;
  // Handles a refusal or missing answer of the backend; returns the error for the caller.
  Task<Error> give_up(SandboxRecord record, Error error);
  // Sets the backend's TTL, or the longest that it allows. Asks again for some seconds if the
  // backend does not answer. Returns why it is as it was, or may be.
  Task<std::optional<Error>> set_backend_ttl(DeploymentPtr deployment, SandboxRecord record,
                                             std::chrono::seconds ttl);
  // Moves the backend's own end of one that waits paused: to kPausedTtl, or as far as it allows.
  Task<void> let_wait(DeploymentPtr deployment, SandboxRecord record);
  Task<Outcome<Keeps>> ask_to_pause(DeploymentPtr deployment, SandboxRecord record);
  // Waits while a snapshot or fork of the sandbox is being made.
  Task<Outcome<std::monostate>> ask_to_resume(DeploymentPtr deployment, SandboxRecord record);
  Task<bool> is_copied(SandboxId id);
  // Writes the result `state`, paused or running. Throws conflict when the row has left its state,
  // and unavailable when the intention was lost.
  Task<SandboxRecord> write_result(SandboxId id, SandboxState state, Change change);
  Task<SandboxRecord> keep_paused(SandboxId id, Keeps kept,
                                  std::optional<Meter::Measured> counters);
  Task<SandboxRecord> keep_running(SandboxRecord resuming);
  // Leaves the row to the reaper when the write fails.
  Task<MaybeRecord> write_or_end_lease(SandboxId id, Change change);
  // Ends the row's lease early, so that the reaper may retry soon.
  Task<void> end_lease(SandboxId id);
  Task<void> undo(SandboxRecord record, Error error);
  // After a pause that failed: gives the backend the rest of the TTL again in place of kPausedTtl.
  Task<void> restore_ttl(SandboxRecord pausing);
  // Shortens the backend's TTL from kPausedTtl to backend_ttl(`ttl`), unless the row has left the
  // record's state, pausing or resuming. Throws nothing.
  Task<void> shorten(DeploymentPtr deployment, SandboxRecord record, std::chrono::seconds ttl);
  MeterState metered_as(const SandboxRecord& paused) const;
  // Adjusts the reservation to the price of the kept state.
  void reserve_paused(pqxx::work& tx, SandboxRecord record) const;
  std::optional<Money> charge_of(const SandboxRecord& record, const Resources& metered) const;

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
};

}  // namespace sandgate
