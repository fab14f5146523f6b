#pragma once
#include <atomic>
#include <string>

#include "billing/losses.hpp"
#include "billing/meter.hpp"
#include "billing/price_books.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/head_starts.hpp"
#include "gateway/sandboxes/installation.hpp"
#include "gateway/sandboxes/outage_journal.hpp"
#include "gateway/sandboxes/prompt_ends.hpp"
#include "gateway/sandboxes/sandbox_cache.hpp"
#include "gateway/sandboxes/settling.hpp"
#include "gateway/sandboxes/spend_guard.hpp"
#include "gateway/sandboxes/store.hpp"

namespace sandgate {

// What ending a sandbox came to.
enum class EndResult {
  ended,
  stopping,  // the backend did not answer; the reaper goes on
};

// Everything that changes a sandbox's state. Each change is a transaction; what a backend is asked
// to do is written down before it is asked. Replicas may share one database.
class Lifecycle {
 public:
  // What it works with, made by the gateway; who changes sandboxes beside it works with the same.
  struct Parts {
    Database& database;
    Deployments& deployments;
    HealthBoard& board;
    PriceBooks& prices;
    Meter& meter;
    SpendGuard& spend;
    SandboxCache& cache;
    const Clock& clock;
    asio::any_io_executor executor;  // of what nobody waits for
    OutageJournal* outage = nullptr;  // null: without the database nothing can be ended
    bool price_required = false;  // a backend whose price is unknown is not used
    const Vault* vault = nullptr;  // opens secrets; without it no sandbox gets any
    std::shared_ptr<Installation> installation = std::make_shared<Installation>();
    std::shared_ptr<HeadStarts> head_starts = std::make_shared<HeadStarts>();
  };
  explicit Lifecycle(Parts parts) : parts_(std::move(parts)), losses_(parts_.prices) {}

  // Decides without creating anything.
  Decision explain(const CreateOrder& order) const;

  // Throws what the API answers: unsupported, no_capacity, quota_exceeded, rate_limited,
  // budget_exceeded, or the last backend's failure. A caller that goes away leaves the create to
  // finish.
  Task<SandboxRecord> create(CreateOrder order);

  // As get; without the database, what is to be ended need not be known as it is now.
  Task<CachedSandboxPtr> get_to_end(TenantId tenant, SandboxId id);
  // Ends a sandbox, whatever its state; the charge ends now. Throws not_found. Without the database
  // the end is kept on disk, with its moment, and the sandbox is killed all the same.
  // `asked` (now if empty) is where the charge ends: what answers late costs its tenant nothing.
  Task<EndResult> kill(TenantId tenant, SandboxId id, std::optional<Time> asked = std::nullopt);
  // The same of one that no answer ever named: nothing is charged, not even that it was created.
  Task<EndResult> end_untold(TenantId tenant, SandboxId id);
  // Waits for a pause or resume under way. Throws not_found, conflict (not running or paused),
  // invalid (beyond the profile's longest), budget_exceeded (not enough money for that long).
  Task<SandboxRecord> extend(TenantId tenant, SandboxId id, int64_t ttl_seconds);
  // Ended by somebody of us who died before it was written: that it was, `at`, is written now.
  Task<void> write_end(SandboxRecord gone, Time at, Meter::Measured counted);
  // Its backend does not know it any more. Whoever is ending it here is waited for, and an end that
  // the backend tells of is written as one; else it was lost: failed with backend_lost, meter
  // closed.
  Task<void> note_gone(SandboxId id, std::string detail);
  // Whether somebody here is ending it, and writes that down.
  bool ends_here(const SandboxId& id) const { return prompt_ends_.has(id); }

  // Null when there is none, or it is another tenant's; get() throws not_found then.
  Task<CachedSandboxPtr> find(TenantId tenant, SandboxId id);
  Task<CachedSandboxPtr> get(TenantId tenant, SandboxId id);
  // The same once it is not being paused or resumed any more. Throws conflict as well: it takes
  // long.
  Task<SandboxRecord> settled(TenantId tenant, SandboxId id);
  // As get, asking the backend: see note_gone.
  Task<CachedSandboxPtr> refresh(TenantId tenant, SandboxId id);

  // Brings down a row that is `stopping`: backend first, then the row; puts it off when the backend
  // does not answer. For the reaper, who asks for the last of its counters before.
  Task<EndResult> bring_down(SandboxRecord stopping);
  // In the transaction that set a row stopping: ends meter and reservation at `at` (now if empty).
  void end_charge(pqxx::work& tx, const SandboxId& id, std::optional<Time> at = std::nullopt,
                  const std::optional<Meter::Measured>& counters = std::nullopt);
  // In the transaction that writes down that the backend has ended it, at `gone_at` (now if empty):
  // stopping -> ended. What it cost after the end of its charge is a loss.
  void end_row(pqxx::work& tx, const SandboxId& id, std::optional<Time> gone_at);

  // What its backend counted so far; empty when it does not measure or answer.
  Task<std::optional<Meter::Measured>> last_reading(SandboxRecord record);

  // See SandboxAccess::judge.
  Task<Error> judge(TenantId tenant, SandboxId id, Error failure);
  // The same of a backend's refusal of what is done with a sandbox as a whole (pause, extend,
  // snapshot): one that it does not know has ended, and any other conflict tells the state.
  Task<Error> judge_refusal(TenantId tenant, SandboxId id, Error failure);

  // The deployment that holds it. Throws Error(unavailable) when it is gone.
  DeploymentPtr deployment_of(const SandboxRecord& record) const;

  const Parts& parts() const { return parts_; }
  Losses& losses() { return losses_; }
  const Losses& losses() const { return losses_; }
  // Creates for which a deployment of unknown price was refused, or (unless required) considered.
  uint64_t unpriced() const { return unpriced_; }

  Settling& settling() { return settling_; }

 private:
  // True: certainly not there any more. Throws when the backend does not answer.
  Task<bool> kill_on(DeploymentPtr deployment, SandboxRecord record);
  // The same by name, and false when it does not answer; wherever it may be, all at once: whoever
  // asks has a lease that is not much longer than the patience with one.
  Task<bool> kill_at(std::string deployment, SandboxRecord record);
  Task<bool> kill_everywhere(SandboxRecord record);
  // When its own time ended it at a backend that could not be asked to: later it cost nothing.
  // Empty when it is still there, or that is not known.
  Task<std::optional<Time>> ended_by_its_time(SandboxRecord record);
  // Backend, then row; `reading` is booked with it.
  Task<EndResult> finish(SandboxRecord stopping, std::optional<Meter::Measured> reading);
  // Row, backend, row.
  Task<EndResult> end_in_steps(SandboxRecord known, Time at);
  Task<EndResult> end_without_database(SandboxRecord record, EndIntention intention);

  // What its row says, unless its end is known of here already. Empty: not there, or not known.
  Task<std::optional<SandboxState>> state_of(TenantId tenant, SandboxId id);
  // Conflict where it has ended and that may be why; else the failure as it is.
  Task<Error> judge_end(TenantId tenant, SandboxId id, Error failure);
  Task<std::optional<SandboxRecord>> row_or_last_seen(SandboxId id);
  // What its backend says that it had counted when it was ended; empty: it says no such thing.
  Task<std::optional<Meter::Measured>> counted_end(SandboxRecord record);
  // Of one that is gone; false when nobody ended it.
  Task<bool> note_end(SandboxId id);
  Task<void> note_loss(SandboxId id, std::string detail);

  // Throws what the caller of extend() is told.
  Task<void> lengthen_at_backend(SandboxRecord record, int64_t ttl_seconds);
  // Backend, then row; empty: the row is in another state by now.
  Task<std::optional<SandboxRecord>> extend_settled(SandboxRecord record, int64_t ttl_seconds);

  void warn_of_unpriced(const Decision& decision);

  Parts parts_;
  Losses losses_;
  std::atomic<uint64_t> unpriced_{0};
  std::atomic<int64_t> unpriced_told_{0};  // steady seconds
  Settling settling_{parts_.cache, parts_.executor};
  PromptEnds prompt_ends_;
};

// What its backend is told of one that waits paused: it must not end it by its own clock.
inline constexpr std::chrono::seconds kWhilePaused{365 * 24 * 3600};

// What the price of a placed sandbox depends on; refers to the record.
PriceScope price_scope_of(const Deployments& deployments, const SandboxRecord& record);

}  // namespace sandgate
