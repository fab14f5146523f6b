#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/usage/metered_counters.hpp"

// SQL access to metered sandboxes, inside the caller's transaction.
namespace sandgate {

// The words of the column `state`; unknown text is read as running.
std::string_view to_string(MeterState state);
MeterState meter_state_from(std::string_view text);

// The INSERT that starts metering, up to its FROM clause. `values` are SQL expressions for:
// sandbox, tenant, profile, profile_version, deployment, provider, region, metadata, milli_vcpu,
// memory_mib, disk_gib, opened_at, boundary, observed_at (all three the same), key, own.
std::string metered_insert(const std::string& values);
// Starts metering at `opened_at` (empty: now). No effect on a sandbox that is metered already.
void insert_metered(pqxx::work& tx, const MeteredSandbox& sandbox, std::optional<Time> opened_at);

struct MeteredRow {
  MeteredLife life;  // the state of a closed one is that in which it ended
  MeteredCounters counters;
  std::optional<Meter::Measured> last;  // counters at the end, while the end is not booked
  bool has_budgets = false;  // of its tenant; certain while price publication is held off
};
// Locks the row until the transaction ends; empty when there is none.
std::optional<MeteredRow> lock_metered(pqxx::work& tx, const SandboxId& id);
// The same without the lock, for holders of the locks of its tenant's budgets: they keep bookings
// out.
std::optional<MeteredRow> read_metered(pqxx::work& tx, const SandboxId& id);
std::vector<MeteredRow> read_metered(pqxx::work& tx, const std::set<std::string>& sandboxes);
// Stores a locked row.
void update_metered(pqxx::work& tx, const MeteredRow& row);

// A shared lock until the transaction ends, for those that book usage or ends which clients know of
// already. await_bookings() waits until every transaction that holds the lock has ended.
void lock_booking(pqxx::work& tx);
void await_bookings(pqxx::work& tx);
// Whether a sandbox of the tenant (empty: of any) that ended by `until` is not booked to its end.
bool has_unbooked_ends(pqxx::work& tx, const std::string& tenant, Time until);

// Ended sandboxes of the tenant (empty: of all) that are not booked up to their end, `most` at
// most. The first function locks them and skips rows that another transaction has locked.
std::vector<MeteredRow> lock_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most);
std::vector<MeteredRow> read_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most);

// Open sandboxes of the tenant (empty: of all), `most` at most, without locking them.
std::vector<MeteredLife> read_open(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   size_t most);

// Selects open sandboxes to book.
struct DueForBooking {
  Time booked_before;  // their boundary is before it
  std::string tenant;  // empty: all
  std::set<std::string> except;  // ids to leave alone
  size_t limit = 0;
};
// Locks them, oldest boundary first. Skips those that are booked up to their expiry and rows that
// another transaction has locked.
std::vector<MeteredRow> lock_due(pqxx::work& tx, const DueForBooking& due);

// Stores boundary and totals of locked rows, which is all that book() changes.
void advance_metered(pqxx::work& tx, const std::vector<MeteredRow>& rows);
// Records that a reading was due, where none was taken before.
void note_missed(pqxx::work& tx, const SandboxId& id);

}  // namespace sandgate
