#pragma once
#include <string>

#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/creating/refusal_log.hpp"
#include "gateway/sandboxes/creating/unpriced_log.hpp"
#include "gateway/sandboxes/ending/backend_first_ends.hpp"
#include "gateway/sandboxes/ending/lost_sandbox.hpp"
#include "gateway/sandboxes/ending/speculative_end.hpp"
#include "gateway/sandboxes/lifecycle_parts.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"
#include "gateway/sandboxes/transition_poller.hpp"

namespace sandgate {

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

  // Finding (lifecycle.cpp).
  // Null when there is no such sandbox or another tenant owns it; get() throws not_found then.
  Task<CachedSandboxPtr> find(TenantId tenant, SandboxId id);
  Task<CachedSandboxPtr> get(TenantId tenant, SandboxId id);
  // As find(), without a coroutine, for hot paths; null also when it would have to ask the
  // database.
  CachedSandboxPtr peek(const TenantId& tenant, const SandboxId& id);
  // As get(); while the database is away, also returns a last known state that may be stale.
  Task<CachedSandboxPtr> get_to_end(TenantId tenant, SandboxId id);
  // As get(), once no pause or resume is under way. Throws conflict after waiting 25 s.
  Task<SandboxRecord> settled(TenantId tenant, SandboxId id);
  // The tenant's sandboxes that these report as `stopping` though their rows live, for lists; see
  // sandbox_rows::Filter.
  std::map<std::string, std::string> ending(const TenantId& tenant) const;
  // The deployment that holds the sandbox. Throws Error(unavailable) when it was removed.
  DeploymentPtr deployment_of(const SandboxRecord& record) const;

  // Ending (lifecycle_ends.cpp).
  // Ends a sandbox in any state. Throws not_found. The charge ends at `asked` (default: now), so
  // that a slow backend costs the tenant nothing. While the database is away, the end and its time
  // are kept in the outage journal, and the backend is asked to kill the sandbox all the same.
  // `reason`: as SandboxRecord::ended_reason, a literal.
  Task<EndResult> kill(TenantId tenant, SandboxId id, std::optional<Time> asked = std::nullopt,
                       std::string_view reason = kKilled);
  // As kill(), for a sandbox that no response ever named: not even its create is charged.
  Task<EndResult> kill_uncharged(TenantId tenant, SandboxId id);
  // Ends a sandbox in state `stopping`: reads its counters, kills it on the backend, then writes
  // the row. When the backend does not answer, postpones the next try. For the reaper.
  Task<EndResult> finish_stopping(SandboxRecord stopping);
  // Records the end, at `at`, of a sandbox that its backend has ended with these final counters; in
  // the outage journal while the database is away. `speculative` was begun before and given the
  // counters.
  Task<void> write_end(SandboxRecord gone, Time at, Meter::Measured counted,
                       std::shared_ptr<SpeculativeEnd> speculative = nullptr,
                       std::string_view reason = kKilled);
  // The backend's counters; empty when it has none or does not answer within a second.
  Task<std::optional<Meter::Measured>> last_reading(SandboxRecord record);
  // Whether this process is ending the sandbox and has yet to record the end.
  bool is_ending_here(const SandboxId& id) const { return backend_first_ends_.has(id); }
  // The ended_reason that it is going to record; empty when it is not.
  std::optional<std::string_view> reason_of_end_here(const SandboxId& id) const {
    return backend_first_ends_.reason_of(id);
  }
  // Returns once it is not, or after 5 s.
  Task<void> wait_for_end_here(SandboxId id) const {
    return backend_first_ends_.wait_until_over(std::move(id));
  }

  // Gone from the backend (lifecycle_gone.cpp).
  // Handles a backend's report that it does not know the sandbox. Waits for an end under way in
  // this process. If the backend reports an end that was asked for, by a call or by the sandbox's
  // own limits, that end is recorded. Otherwise the sandbox is lost; see note_lost().
  Task<void> note_gone(SandboxId id, std::string detail);
  // As get(), after asking the backend of a running or paused sandbox; see note_gone().
  Task<CachedSandboxPtr> refresh(TenantId tenant, SandboxId id);
  // As refresh(), with the state that the backend told; empty: it was not asked, or lacks it.
  struct Seen {
    CachedSandboxPtr known;
    std::optional<BackendState> there;
  };
  Task<Seen> look_at(TenantId tenant, SandboxId id);

  const Parts& parts() const { return parts_; }
  const UnpricedLog& unpriced() const { return unpriced_log_; }
  TransitionPoller& transitions() { return transitions_; }

 private:
  // A cached sandbox as the tenant sees it; null unless it is the tenant's.
  CachedSandboxPtr shown_to(const TenantId& tenant, CachedSandboxPtr found) const;
  // Row to `stopping`, then backend, then row to its end.
  Task<EndResult> end_in_steps(SandboxRecord known, Time at, std::string_view reason);
  // Starts writing the end while the backend ends the sandbox. Null when the backend does not, or
  // when no connection may be held: of the ends under way one holds one.
  std::shared_ptr<SpeculativeEnd> try_speculative_end(const DeploymentPtr& deployment,
                                                      const SandboxRecord& record, Time at,
                                                      const asio::any_io_executor& executor);
  // Records the end of a sandbox that is gone from its backend. When nobody asked for its end,
  // returns it instead as lost.
  Task<std::optional<LostSandbox>> note_end(SandboxId id, std::string detail);

  Parts parts_;
  RefusalLog refusal_log_;
  UnpricedLog unpriced_log_;
  TransitionPoller transitions_{parts_.cache, parts_.executor};
  BackendFirstEnds backend_first_ends_;
};

// Reads of a row whose end another replica may be about to write, and the pause between them.
inline constexpr int kEndLooks = 3;
inline constexpr std::chrono::milliseconds kEndLookPause{50};

}  // namespace sandgate
