#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/metered_counters.hpp"

// Metered sandboxes as rows. Everything here runs inside a transaction of the caller's.
namespace sandgate {

// As the rows say it; what they don't know ran.
std::string_view to_string(MeterState state);
MeterState meter_state_from(std::string_view text);

// The statement that begins to meter, up to where its values come from (SQL): sandbox, tenant,
// profile, profile_version, deployment, provider, region, metadata, milli_vcpu, memory_mib,
// disk_gib, opened_at, boundary, observed_at (all three the same), key, own.
std::string metered_insert(const std::string& values);
// No effect when it is there already. Without `opened_at`: from this moment on.
void insert_metered(pqxx::work& tx, const MeteredSandbox& sandbox, std::optional<Time> opened_at);

struct MeteredRow {
  MeteredLife life;  // the state of a closed one is that in which it ended
  MeteredCounters counters;
  std::optional<Meter::Measured> last;  // with an unbooked end: what was counted by then
  bool has_budgets = false;  // its tenant; certain while price publication is held off
};
// Locks the row until the transaction ends; empty when there is none.
std::optional<MeteredRow> lock_metered(pqxx::work& tx, const SandboxId& id);
// The same without the lock: whoever holds the locks of its tenant's budgets keeps bookings out.
std::optional<MeteredRow> read_metered(pqxx::work& tx, const SandboxId& id);
// Stores all of a row that is locked.
void update_metered(pqxx::work& tx, const MeteredRow& row);

// Held by a transaction that books what others were answered for already, to its end. Whoever has
// to see that waits until no such transaction is under way that began before.
void hold_booking(pqxx::work& tx);
void await_bookings(pqxx::work& tx);
// Whether an end before `until` is not booked, of all tenants when empty.
bool has_unbooked_ends(pqxx::work& tx, const std::string& tenant, Time until);

// Ended ones that are not booked up to their end, `most` at most, of all tenants when empty:
// locked but for those that somebody else books right now, or only read.
std::vector<MeteredRow> lock_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most);
std::vector<MeteredRow> read_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most);

// Open ones, `most` at most, without locking them; of all tenants when empty.
std::vector<MeteredLife> read_open(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   size_t most);

// Which open sandboxes to book.
struct DueForBooking {
  Time booked_before;  // their boundary is before it
  std::string tenant;  // empty: all
  std::set<std::string> except;  // ids to leave alone
  size_t limit = 0;
};
// Locks them, oldest boundary first, without those that are booked up to the end of their time and
// those that somebody else books right now.
std::vector<MeteredLife> lock_due(pqxx::work& tx, const DueForBooking& due);

// Stores boundary, totals, state and size of lives that are locked.
void update_metered(pqxx::work& tx, const std::vector<MeteredLife>& lives);

}  // namespace sandgate
