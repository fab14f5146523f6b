#pragma once
#include <map>

#include "gateway/sandboxes/create_order.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/snapshot_rows.hpp"

namespace sandgate {

// Kept states of sandboxes and what is made from them. Every snapshot is a row before its backend
// is asked and until its backend has forgotten it; what a crash leaves in between, the
// Reaper removes.
class Snapshots {
 public:
  explicit Snapshots(Lifecycle& lifecycle) : lifecycle_(lifecycle), parts_(lifecycle.parts()) {}

  // What take() and fork() begin with: a running or paused sandbox, once no pause or resume of it
  // is under way. Throws not_found, conflict.
  Task<SandboxRecord> source(TenantId tenant, SandboxId sandbox);
  // Of a running or paused sandbox. Throws not_found, conflict, unsupported, quota_exceeded, and
  // what the backend says.
  Task<SnapshotRecord> take(TenantId tenant, SandboxId sandbox, std::string name, Keeps wish,
                            std::string claim = "");
  Task<SnapshotRecord> find(TenantId tenant, SnapshotId id);  // throws not_found
  Task<std::vector<SnapshotRecord>> list(snapshot_rows::Page page);
  // Forgotten at once; the backend's part may take a while. Throws not_found.
  Task<void> remove(TenantId tenant, SnapshotId id);

  // Has the order begin with the snapshot: see start_from; with the env its sandbox was given,
  // where the order does not say otherwise. Throws Error(invalid).
  Task<void> begin_with(CreateOrder& order, SnapshotRecord snapshot,
                        std::optional<int64_t> asked_disk_gib);

  // Copies of a source(): a snapshot nobody sees, and a create from it for each. `order` is what
  // they are, without the snapshot. Throws what take() throws; what happens to each copy is its
  // own outcome.
  Task<std::vector<Outcome<SandboxRecord>>> fork(SandboxRecord source, CreateOrder order,
                                                 size_t count);

  // For the retry of a call that ended without an answer, with what it wrote beside its key. The
  // snapshot it made; empty when there is none (any more): what is still being made gets two
  // seconds, then it is given up.
  Task<std::optional<SnapshotRecord>> take_up(TenantId tenant, std::string made);
  // The same of fork(): the copies it made, whatever their tenant has done with them since, by
  // their places in its answer, from 0.
  Task<std::map<size_t, SandboxRecord>> take_up_copies(TenantId tenant, std::string made);

  // For the reaper: what is due to be removed, leased to the caller.
  Task<std::vector<SnapshotRecord>> take_unfinished(int most, std::chrono::milliseconds ahead);
  // On its backend, then its row; put off when the backend does not answer.
  Task<void> finish_removal(SnapshotRecord snapshot);

 private:
  Task<SnapshotRecord> make(SandboxRecord source, SnapshotRecord wanted, std::string claim);
  Task<std::vector<Outcome<SandboxRecord>>> make_copies(SandboxRecord source, CreateOrder order,
                                                        size_t count);
  Task<bool> remove_on_backend(SnapshotRecord snapshot);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
};

// The order with a snapshot to start from: where it is, and its size of disk, which `asked` (the
// body's own wish, if any) may only repeat. Throws Error(invalid).
void start_from(CreateOrder& order, const SnapshotRecord& snapshot, std::optional<int64_t> asked);

}  // namespace sandgate
