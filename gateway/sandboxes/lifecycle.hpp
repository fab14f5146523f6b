#pragma once
#include <string>

#include "gateway/sandboxes/backend_first_ends.hpp"
#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/lifecycle_parts.hpp"
#include "gateway/sandboxes/refusal_log.hpp"
#include "gateway/sandboxes/speculative_end.hpp"
#include "gateway/sandboxes/store.hpp"
#include "gateway/sandboxes/transition_poller.hpp"
#include "gateway/sandboxes/unpriced_log.hpp"

namespace sandgate {

inline constexpr std::string_view kKilled = "killed";  // the ended_reason of an end by a call

// How a request to end a sandbox turned out.
enum class EndResult {
  ended,
  stopping,  // the backend did not confirm; the reaper retries
};

// Creates, finds and ends sandboxes; see Extending, Pausing and Snapshots for what happens between.
// Each change of state is one transaction. The intention is committed before a backend is called,
// except where BackendFirstEnds and Creation call the backend first. Replicas may share one
// database.
class Lifecycle {
 public:
  using Parts = LifecycleParts;
  explicit Lifecycle(Parts parts) : parts_(std::move(parts)) {}

  // Returns the placement decision for the order; creates nothing.
  Decision explain(const CreateOrder& order) const;

  // Creates a sandbox. Throws unsupported, no_capacity, quota_exceeded, rate_limited,
  // budget_exceeded, conflict (ended meanwhile, or its scope has one), or the last backend's error.
  // Cancelling the caller does not cancel the create.
  Task<SandboxRecord> create(CreateOrder order);

  // As get(); while the database is away, also returns a last known state that may be stale.
  Task<CachedSandboxPtr> get_to_end(TenantId tenant, SandboxId id);
  // Ends a sandbox in any state. Throws not_found. The charge ends at `asked` (default: now), so
  // that a slow backend costs the tenant nothing. While the database is away, the end and its time
  // are kept in the outage journal, and the backend is asked to kill the sandbox all the same.
  // `reason`: as SandboxRecord::ended_reason, a literal.
  Task<EndResult> kill(TenantId tenant, SandboxId id, std::optional<Time> asked = std::nullopt,
                       std::string_view reason = kKilled);
  // As kill(), for a sandbox that no response ever named: not even its create is charged.
  Task<EndResult> kill_uncharged(TenantId tenant, SandboxId id);
  // Records the end, at `at`, of a sandbox that its backend has ended with these final counters; in
  // the outage journal while the database is away. `speculative` was begun before and given the
  // counters.
  Task<void> write_end(SandboxRecord gone, Time at, Meter::Measured counted,
                       std::shared_ptr<SpeculativeEnd> speculative = nullptr,
                       std::string_view reason = kKilled);
  // Handles a backend's report that it does not know the sandbox. Waits for an end under way in
  // this process. If the backend reports an end that was asked for, by a call or by the sandbox's
  // own limits, that end is recorded. Otherwise the sandbox is lost: `failed` with backend_lost,
  // its meter closed at its death if the backend reports when that was.
  Task<void> note_gone(SandboxId id, std::string detail);
  // Ends a sandbox whose machine gave its last sign of life at `seen`: as lost, unless its end was
  // asked for. Nobody can ask the machine. The charge ends at `seen`, or where it is booked to.
  Task<void> note_lost_machine(SandboxId id, Time seen);
  // Whether this process is ending the sandbox and has yet to record the end.
  bool is_ending_here(const SandboxId& id) const { return backend_first_ends_.has(id); }
  // Returns once it is not, or after 5 s.
  Task<void> wait_for_end_here(SandboxId id) const {
    return backend_first_ends_.wait_until_over(std::move(id));
  }

  // Null when there is no such sandbox or another tenant owns it; get() throws not_found then.
  Task<CachedSandboxPtr> find(TenantId tenant, SandboxId id);
  Task<CachedSandboxPtr> get(TenantId tenant, SandboxId id);
  // As find(), without a coroutine, for hot paths; null also when it would have to ask the
  // database.
  CachedSandboxPtr peek(const TenantId& tenant, const SandboxId& id);
  // The tenant's sandboxes that these report as `stopping` though their rows live, for lists; see
  // sandbox_rows::Filter.
  std::map<std::string, std::string> ending(const TenantId& tenant) const;
  // As get(), once no pause or resume is under way. Throws conflict after waiting 25 s.
  Task<SandboxRecord> settled(TenantId tenant, SandboxId id);
  // As get(), after asking the backend of a running or paused sandbox; see note_gone().
  Task<CachedSandboxPtr> refresh(TenantId tenant, SandboxId id);
  // As refresh(), with the state that the backend told; empty: it was not asked, or lacks it.
  struct Seen {
    CachedSandboxPtr known;
    std::optional<BackendState> there;
  };
  Task<Seen> look_at(TenantId tenant, SandboxId id);

  // Ends a sandbox in state `stopping`: reads its counters, kills it on the backend, then writes
  // the row. When the backend does not answer, postpones the next try. For the reaper.
  Task<EndResult> finish_stopping(SandboxRecord stopping);
  // What a backend says of the end of a sandbox that is gone; empty: nothing.
  struct KnownEnd {
    Meter::Measured counted;
    bool is_loss;  // nobody asked for its end
    std::string_view reason;  // else as SandboxRecord::ended_reason, a literal
  };
  std::optional<KnownEnd> end_told_by(const BackendSandbox& gone,
                                      const SandboxRecord& record) const;
  // In the transaction that sets a row stopping: ends meter and reservation at `at` (default: now).
  // What a last reading may be charged stays reserved until the row ends.
  void end_charge(pqxx::work& tx, const SandboxId& id, std::optional<Time> at = std::nullopt,
                  const std::optional<Meter::Measured>& counters = std::nullopt);
  // In the transaction that records that the backend ended the sandbox at `gone_at` (default: now):
  // stopping -> ended. Its cost between the end of its charge and `gone_at` is booked as a loss.
  void end_row(pqxx::work& tx, const SandboxId& id, std::optional<Time> gone_at);

  // The backend's counters; empty when it has none or does not answer within a second.
  Task<std::optional<Meter::Measured>> last_reading(SandboxRecord record);

  // The deployment that holds the sandbox. Throws Error(unavailable) when it was removed.
  DeploymentPtr deployment_of(const SandboxRecord& record) const;

  const Parts& parts() const { return parts_; }
  const UnpricedLog& unpriced() const { return unpriced_log_; }

  TransitionPoller& transitions() { return transitions_; }

 private:
  // A cached sandbox as the tenant sees it; null unless it is the tenant's.
  CachedSandboxPtr shown_to(const TenantId& tenant, CachedSandboxPtr found) const;
  // Returns once the backend certainly has no such sandbox. Throws when it does not answer.
  Task<void> kill_on(DeploymentPtr deployment, SandboxRecord record);
  // kill_at(): as kill_on(), by name; false when the backend does not answer. kill_everywhere(): on
  // all deployments that may hold it, in parallel, to finish within the caller's lease.
  Task<bool> kill_at(std::string deployment, SandboxRecord record);
  Task<bool> kill_everywhere(SandboxRecord record);
  // The time at which the backend ended an unreachable sandbox by its own TTL; the sandbox cost
  // nothing after it. Empty when the sandbox exists, or that is unknown.
  Task<std::optional<Time>> ended_by_its_time(SandboxRecord record);
  // Backend, then row; books `reading` in the row's transaction. A try in vain postpones the next
  // one, unless it was extra: then that is due when it was.
  enum class Try { due, extra };
  Task<EndResult> finish(SandboxRecord stopping, std::optional<Meter::Measured> reading, Try kind);
  // After a try in vain to end the sandbox.
  void schedule_retry(pqxx::work& tx, const SandboxRecord& stopping);
  // Row to `stopping`, then backend, then row to its end.
  Task<EndResult> end_in_steps(SandboxRecord known, Time at, std::string_view reason);
  Task<EndResult> end_without_database(SandboxRecord record, EndIntention intention);
  // While the database is away, for a sandbox whose end is in the journal: kill_during_outage()
  // kills it and adds to the journal when it was gone, end_again() does so unless it was gone
  // before.
  Task<EndResult> kill_during_outage(SandboxRecord record, EndIntention intention);
  Task<EndResult> end_again(SandboxId id);
  // Starts writing the end while the backend ends the sandbox. Null when the backend does not, or
  // when no connection may be held: of the ends under way one holds one.
  std::shared_ptr<SpeculativeEnd> try_speculative_end(const DeploymentPtr& deployment,
                                                      const SandboxRecord& record, Time at,
                                                      const asio::any_io_executor& executor);
  // By `speculative`, or (null) in one statement. False: nothing was written, as for a late end,
  // since a loss has to be booked with it.
  Task<bool> try_write_end(SandboxId id, Time at, Meter::Measured counted,
                           std::shared_ptr<SpeculativeEnd> speculative);

  Task<std::optional<SandboxRecord>> row_or_last_seen(SandboxId id);
  // Asks the backend, where it tells of ends; empty also when it does not answer.
  Task<std::optional<KnownEnd>> known_end(SandboxRecord record);
  // The loss of a sandbox whose end nobody asked for: at its death if the backend reports that,
  // otherwise now.
  struct Loss {
    std::string detail;
    std::optional<Meter::Measured> death;
  };
  // Records the end of a sandbox that is gone from its backend. Returns a loss instead when nobody
  // asked for its end.
  Task<std::optional<Loss>> note_end(SandboxId id, std::string detail);
  Task<void> note_loss(SandboxId id, Loss loss);

  Parts parts_;
  RefusalLog refusal_log_;
  UnpricedLog unpriced_log_;
  TransitionPoller transitions_{parts_.cache, parts_.executor};
  BackendFirstEnds backend_first_ends_;
};

// A backend's end within this time after the end of the charge counts as simultaneous: calls take
// time, and vendors bill by the second. Between a later end and the charge's lies a loss.
inline constexpr std::chrono::seconds kEndTolerance{2};

// Reads of a row whose end another replica may be about to write, and the pause between them.
inline constexpr int kEndLooks = 3;
inline constexpr std::chrono::milliseconds kEndLookPause{50};

}  // namespace sandgate
