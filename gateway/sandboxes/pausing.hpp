#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Pausing and resuming. The row says first what is going to happen; whoever dies in between leaves
// it to the reaper, which carries it out again: backends take both verbs twice.
class Pausing {
 public:
  explicit Pausing(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // To `paused`, with what was kept in `kept`; `wish` is what the caller would like. Paused ones
  // are answered as they are. Throws not_found, conflict, unsupported, and unavailable or timeout
  // when the backend did not answer: the sandbox is `pausing` then, and the reaper goes on.
  Task<SandboxRecord> pause(TenantId tenant, SandboxId id, Keeps wish);
  // To `running`; `kept` of the answer says what had survived. Waits for a pause or a
  // snapshot under way. Throws the same, and budget_exceeded.
  Task<SandboxRecord> resume(TenantId tenant, SandboxId id);

  // What a row in `pausing` or `resuming` says. Throws when the backend refused (the row is what it
  // was before) or did not answer (it stays).
  Task<SandboxRecord> carry_out(SandboxRecord record);

 private:
  using MaybeRecord = std::optional<SandboxRecord>;
  using Change = std::function<MaybeRecord(pqxx::work&)>;
  // Writes the change to `state`, pausing or resuming; empty: somebody else was faster.
  Task<MaybeRecord> set_out(SandboxId id, SandboxState state, Change change);
  // Reads what was counted until then beside the writing of it.
  Task<MaybeRecord> begin_pause(SandboxRecord running, Keeps wish);
  Task<SandboxRecord> begin_resume(SandboxRecord paused);
  Task<SandboxRecord> carry_out_pause(SandboxRecord record,
                                      std::optional<Meter::Measured> counters);
  Task<SandboxRecord> carry_out_resume(SandboxRecord record);
  Task<DeploymentPtr> backend_of(SandboxRecord record);  // throws unavailable when it is gone
  // A backend that refused or did not answer; what its caller is told.
  Task<Error> give_up(SandboxRecord record, Error error);
  Task<Outcome<Keeps>> ask_to_pause(DeploymentPtr deployment, SandboxRecord record);
  // Waits for a snapshot or fork of it that is under way.
  Task<Outcome<std::monostate>> ask_to_resume(DeploymentPtr deployment, SandboxRecord record);
  Task<bool> is_copied(SandboxId id);
  // Writes the change to `state`, paused or running. Throws conflict where it came too late.
  Task<SandboxRecord> keep(SandboxId id, SandboxState state, Change change);
  Task<SandboxRecord> keep_paused(SandboxId id, Keeps kept,
                                  std::optional<Meter::Measured> counters);
  Task<SandboxRecord> keep_running(SandboxId id);
  // What could not be written is left to the reaper.
  Task<MaybeRecord> write_or_leave(SandboxId id, Change change);
  // Nobody is at work on it any more: the reaper need not wait until its lease is over.
  Task<void> leave(SandboxId id);
  void leave_soon(SandboxId id);  // when the database is back
  Task<void> undo(SandboxRecord record, Error error);
  // While paused the reservation covers what is kept.
  void reserve_paused(pqxx::work& tx, SandboxRecord record) const;
  std::optional<Money> charge_of(const SandboxRecord& record, const Resources& metered) const;

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
};

}  // namespace sandgate
