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

// A kept state of a sandbox as the registry knows it.
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

// As every answer of the API shows it.
Json to_json(const SnapshotRecord& snapshot);

// The rows of snapshots: each function is one round trip in the caller's transaction.
namespace snapshot_rows {

// The intention, with what its sandbox was given as env. `lease` is how long its maker may take; of
// a fork, how long it may be used.
void insert(pqxx::work& tx, const SnapshotRecord& snapshot, std::chrono::milliseconds lease);
// creating -> ready. Empty when the cleaner took it meanwhile.
std::optional<SnapshotRecord> set_ready(pqxx::work& tx, const SnapshotRecord& made);
// ready -> removing, of a snapshot somebody may see.
std::optional<SnapshotRecord> set_removing(pqxx::work& tx, const TenantId& tenant,
                                           const SnapshotId& id, std::chrono::milliseconds lease);
// Any state -> removing, due after that long: whoever made it gives it up.
void give_up(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after);
// creating -> removing, due after that long.
void give_up_unmade(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after);
bool is_being_made(pqxx::work& tx, const SnapshotId& id);
// Whether one of that sandbox is, also for a fork.
bool is_copied(pqxx::work& tx, const SandboxId& sandbox);
void erase(pqxx::work& tx, const SnapshotId& id);
// Puts the next try to remove it off, by 1 s doubling to 60 s.
void put_off(pqxx::work& tx, const SnapshotId& id);

// Ready ones only, never a fork's.
std::optional<SnapshotRecord> find(pqxx::work& tx, const TenantId& tenant, const SnapshotId& id);
struct Page {
  TenantId tenant;
  std::optional<std::pair<Time, std::string>> after;  // created_at and id of the last one seen
  int64_t rows = 50;
};
std::vector<SnapshotRecord> list(pqxx::work& tx, const Page& page);  // newest first

// What is unfinished and due -> removing, leased to the caller for `lease`.
std::vector<SnapshotRecord> take_unfinished(pqxx::work& tx, int most,
                                            std::chrono::milliseconds lease,
                                            std::chrono::milliseconds ahead);

}  // namespace snapshot_rows
}  // namespace sandgate
