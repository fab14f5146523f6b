#pragma once
#include <chrono>
#include <map>

#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/rows/snapshot_rows.hpp"

namespace sandgate {

// The time that a backend has to make a snapshot.
inline constexpr std::chrono::seconds kCopyTimeout{300};

// Takes, restores and removes snapshots, and forks sandboxes. A snapshot's row exists before its
// backend is asked and until the backend has removed the snapshot; the reaper removes what a crash
// leaves unfinished.
class Snapshots {
 public:
  explicit Snapshots(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // The sandbox for take() or fork(), once no pause or resume is under way. Throws not_found,
  // conflict (not running or paused).
  Task<SandboxRecord> source(TenantId tenant, SandboxId sandbox);
  // Takes a snapshot of a running or paused sandbox. Throws not_found, conflict, unsupported,
  // quota_exceeded, timeout, unavailable (on another gateway's machine), and the backend's error.
  Task<SnapshotRecord> take(TenantId tenant, SandboxId sandbox, std::string name, Keeps requested,
                            std::string claim = "");
  Task<SnapshotRecord> find(TenantId tenant, SnapshotId id);  // throws not_found
  Task<std::vector<SnapshotRecord>> list(snapshot_rows::Page page);
  // Hides the snapshot at once and waits up to 20 s for the backend to remove it; the reaper
  // retries. Throws not_found.
  Task<void> remove(TenantId tenant, SnapshotId id);

  // apply_snapshot(), also adding the variables given to the snapshot's sandbox that the order does
  // not set itself. Throws Error: invalid, and unavailable for one on another gateway's machine.
  Task<void> restore_from(CreateOrder& order, SnapshotRecord snapshot,
                          std::optional<int64_t> asked_disk_gib);

  // Creates `count` copies of a source(), from a hidden snapshot. `order` describes the copies,
  // without the snapshot. Throws as take(); each copy has its own outcome.
  Task<std::vector<Outcome<SandboxRecord>>> fork(SandboxRecord source, CreateOrder order,
                                                 size_t count);

  // For the retry of a call that ended without a response; `made` is the effect stored with its
  // Idempotency-Key. Returns the snapshot; empty when there is none. A snapshot that is still being
  // made after two seconds is given up.
  Task<std::optional<SnapshotRecord>> recover(TenantId tenant, std::string made);
  // As recover(), for fork(): the copies created, also if ended since, by their index in the
  // response. A copy that is still being created after two seconds is ended, uncharged.
  Task<std::map<size_t, SandboxRecord>> recover_copies(TenantId tenant, std::string made);

  // For the reaper: leases unfinished snapshots whose lease is over, but for those on other
  // machines than `machine`.
  Task<std::vector<SnapshotRecord>> take_unfinished(int most, std::string machine,
                                                    std::chrono::milliseconds ahead);
  // For the reaper, of snapshots on the gateway's own machine: gives up what earlier processes
  // began and left before `before`; at most `most` that nobody wants and whose leases are not over.
  Task<size_t> give_up_earlier(std::string machine, Time before);
  Task<std::vector<SnapshotRecord>> unwanted_on(std::string machine, int most);
  // Removes what there is of the snapshot from its backend. Its row stays, because a late request
  // may still make it.
  Task<void> remove_early(SnapshotRecord unwanted);
  // Removes the snapshot from its backend, then its row; postponed when the backend does not
  // answer, and left to the gateway on whose machine it is.
  Task<void> finish_removal(SnapshotRecord snapshot);

 private:
  Task<SnapshotRecord> make(SandboxRecord source, SnapshotRecord wanted, std::string claim);
  Task<std::vector<Outcome<SandboxRecord>>> make_copies(SandboxRecord source, CreateOrder order,
                                                        size_t count);
  // For a fork whose later copies begin when the first ones are made. Throws nothing.
  Task<void> renew(SnapshotId id);
  Task<bool> remove_on_backend(SnapshotRecord snapshot);
  bool is_elsewhere(const SnapshotRecord& snapshot) const;

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
};

// Makes the order restore the snapshot: sets its location and disk size. Throws Error(invalid) if
// `asked`, the disk size in the body, is not the snapshot's, or if the snapshot's is above the
// profile's limit. Sizes are compared as `deployment` rounds them up (null: not rounded).
void apply_snapshot(CreateOrder& order, const SnapshotRecord& snapshot,
                    std::optional<int64_t> asked, const Deployment* deployment = nullptr);

}  // namespace sandgate
