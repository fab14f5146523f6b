#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "providers/descriptor.hpp"

namespace sandgate {

// One snapshot as the registry stores it.
struct SnapshotRecord {
  SnapshotId id;
  TenantId tenant;
  bool for_fork = false;
  std::string name;
  SandboxId sandbox;
  std::string deployment, backend_id;
  Keeps kept = Keeps::disk;
  int64_t disk_gib = 0;
  int64_t size_bytes = 0;
  Time created_at;
};

// The representation in every API response.
Json to_json(const SnapshotRecord& snapshot);

// SQL statements on snapshots. Each function is one round trip in the caller's transaction.
namespace snapshot_rows {

// Inserts the intention (`creating`) with a copy of the sandbox's sealed variables; its backend id
// is empty, or names the machine on which it will be (see LocalProvider). `lease` is the
// time for making the snapshot; of a fork's, also for using it.
void insert(pqxx::work& tx, const SnapshotRecord& snapshot, std::chrono::milliseconds lease);
// Counts the lease of a fork's snapshot from now, unless it was given up.
void renew(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds lease);
// creating -> ready. Empty when the reaper or a retry gave the snapshot up meanwhile.
std::optional<SnapshotRecord> set_ready(pqxx::work& tx, const SnapshotRecord& made);
// ready -> removing; never a fork's.
std::optional<SnapshotRecord> set_removing(pqxx::work& tx, const TenantId& tenant,
                                           const SnapshotId& id, std::chrono::milliseconds lease);
// Any state -> removing, due for removal after `after`: its maker gives it up.
void give_up(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after);
// creating -> removing, due for removal after `after`.
void give_up_unmade(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after);
bool is_being_made(pqxx::work& tx, const SnapshotId& id);
// Whether any snapshot of the sandbox, also for a fork, is being made.
bool is_copied(pqxx::work& tx, const SandboxId& sandbox);
void erase(pqxx::work& tx, const SnapshotId& id);
// Postpones the next try to remove the snapshot, by 1 s doubling to 60 s.
void postpone(pqxx::work& tx, const SnapshotId& id);

// Finds ready snapshots only, never a fork's; list() too.
std::optional<SnapshotRecord> find(pqxx::work& tx, const TenantId& tenant, const SnapshotId& id);
struct Page {
  TenantId tenant;
  std::optional<std::pair<Time, std::string>> after;  // created_at and id of the last one seen
  int64_t rows = 50;
};
std::vector<SnapshotRecord> list(pqxx::work& tx, const Page& page);  // newest first

// Snapshots that are not ready, or a fork's, and past their lease -> removing, leased for `lease`.
// Leaves those on other machines than `machine`.
std::vector<SnapshotRecord> take_unfinished(pqxx::work& tx, int most, const std::string& machine,
                                            std::chrono::milliseconds lease,
                                            std::chrono::milliseconds ahead);

// For the start of the gateway of `machine`: the snapshots there that are being made, or are a
// fork's, and are older than `before` -> removing, as earlier processes began them. Their leases
// stay, since the machine may not have begun yet what it was asked for. Returns how many.
size_t give_up_earlier(pqxx::work& tx, const std::string& machine, Time before);
// At most `most` snapshots on `machine` that nobody wants, whose leases are not over, and whose
// removal has not failed.
std::vector<SnapshotRecord> unwanted_on(pqxx::work& tx, const std::string& machine, int most);

// Deletes at most `most` rows that waited longer than `age` to be removed from a machine that is
// taken for lost (see MachineMonitor). Returns how many.
size_t forget_lost(pqxx::work& tx, std::chrono::hours age, int most);

}  // namespace snapshot_rows
}  // namespace sandgate
