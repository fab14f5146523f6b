#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "billing/usage/meter.hpp"
#include "gateway/sandboxes/rows/record.hpp"

// SQL statements on existing rows of sandboxes, decisions and attempts; inserts are in
// insert_sandbox.hpp. Each function is one round trip in the caller's transaction. A transition
// takes place only from the states it names; an empty result means that another writer was first.
namespace sandgate::sandbox_rows {

struct Stop {
  std::string reason;  // as SandboxRecord::ended_reason
  std::optional<SandboxFailure> failure;  // set: the sandbox ends as failed
  std::chrono::milliseconds lease{30'000};  // time for the caller before the reaper tries
  bool placed_only = false;  // skips rows that are still creating
};
// creating, running, pausing, paused, resuming -> stopping. Succeeds for one caller only.
std::optional<SandboxRecord> set_stopping(pqxx::work& tx, const SandboxId& id, const Stop& stop);
// stopping -> stopped or failed. The commit need not be durable: killing again is harmless.
struct Ended {
  Time at;  // end of its charge
  std::string backend_id;
  bool is_reserved;  // money is still set aside for it
};
std::optional<Ended> set_ended(pqxx::work& tx, const SandboxId& id);
// running, paused -> stopped (killed), for a sandbox that its backend has ended. The charge ends at
// `at`, now or (on_expiry kill) expires_at, whichever is first; Meter::book_ends() books `counted`
// later. A transaction of its own. False: nothing was changed, as for tenants with budgets; the
// caller has to use set_stopping() and set_ended().
bool try_fast_end(pqxx::nontransaction& statement, const SandboxId& id, Time at,
                  const Meter::Measured& counted);
// The same in two statements of one transaction: set_ended_speculatively() for a sandbox that its
// backend is about to end, which returns the end of the charge; then, with what was counted, the
// other.
std::optional<Time> set_ended_speculatively(pqxx::work& tx, const SandboxId& id, Time at);
void close_meter_speculatively(pqxx::work& tx, const SandboxId& id, Time ended_at,
                               const Meter::Measured& counted);
// Keeps others from changing the row until the transaction ends.
void lock(pqxx::work& tx, const SandboxId& id);
// Postpones the next try to end a `stopping` sandbox, by 1 s doubling to `most`.
void postpone(pqxx::work& tx, const SandboxId& id, std::chrono::seconds most);
// Makes a `stopping` sandbox due at once, for the reaper of the gateway on whose machine it is.
void make_due(pqxx::work& tx, const SandboxId& id);

// Why a sandbox is due to be ended.
enum class Due {
  expired,  // its TTL is over, on_expiry is `kill`
  idle,  // it runs, its idle timeout is over, on_idle is `kill`
  abandoned,  // it is creating past its lease
};
// At most `most` rows that are due, those that have been longest first, but for those of some
// tenants. Here and below, `ahead` is added to the current time when judging what is due.
std::vector<SandboxRecord> find_due(pqxx::work& tx, Due due, int most,
                                    std::chrono::milliseconds ahead,
                                    const std::vector<std::string>& except_tenants);
// Sets a row to stopping if it is due. Skips it while another replica has it locked.
std::optional<SandboxRecord> stop_if_due(pqxx::work& tx, const SandboxId& id, Due due,
                                         const Stop& stop, std::chrono::milliseconds ahead);
// Since when the idle timeout of a row has been over.
Time idle_since(pqxx::work& tx, const SandboxId& id);

// What a gateway may have left half done.
enum class Unfinished { ends, pauses };  // stopping; pausing or resuming
// Takes such rows whose lease is over, and leases them to the caller for `lease`. Skips rows on the
// machine of another gateway than `machine` (see LocalProvider).
std::vector<SandboxRecord> take_unfinished(pqxx::work& tx, Unfinished what,
                                           const std::string& machine, int most,
                                           std::chrono::milliseconds lease,
                                           std::chrono::milliseconds ahead);

// SQL condition that excludes sandboxes or snapshots on machines other than the one that
// `parameter` names.
std::string not_elsewhere(const std::string& parameter);

// For running or paused rows: sets ttl_seconds and an expiry counted from now. `before` is the
// expiry that it replaces.
struct Extended {
  SandboxRecord record;
  Time before;
};
std::optional<Extended> set_expiry(pqxx::work& tx, const SandboxId& id, int64_t ttl_seconds);

std::optional<SandboxRecord> find(pqxx::work& tx, const SandboxId& id);

struct Filter {
  TenantId tenant;
  // Those that are told as `stopping` while their rows say that they live, with the reasons of
  // their ends.
  std::map<std::string, std::string> ending;
  std::vector<SandboxState> states;  // empty: any
  std::optional<bool> ended;  // empty: either
  std::string profile, deployment;  // empty: any
  std::optional<int64_t> profile_version;
  std::map<std::string, std::string> metadata;  // all have to match
  std::optional<Time> created_after;
  bool oldest_first = false;
  std::optional<std::pair<Time, std::string>> after;  // created_at and id of the last one seen
  int64_t rows = 50;
};
// Newest first unless the filter says otherwise. With the states that are told.
std::vector<SandboxRecord> list(pqxx::work& tx, const Filter& filter);
// Of all pages.
int64_t count(pqxx::work& tx, const Filter& filter);

// The decision with its attempts and choice, as the API shows it; empty when unknown.
std::optional<Json> find_decision(pqxx::work& tx, const SandboxId& id);

// Rows that are running or paused on a deployment. `owner`: tenant of a tenant-owned deployment.
std::vector<SandboxRecord> expected_on(pqxx::work& tx, const std::string& deployment,
                                       const std::optional<TenantId>& owner);
// Those on a machine (see LocalProvider) that have not ended.
std::vector<SandboxId> on_machine(pqxx::work& tx, const std::string& machine);
// Locks enabled deployments that the tenant may use against removal and disabling until the
// transaction ends. False when one of them is already removed or disabled.
bool lock_deployments(pqxx::work& tx, const TenantId& tenant,
                      const std::vector<std::string>& names);
// Whether a deployment holds, or may come to hold, anything: sandboxes that have not ended,
// snapshots, or what an attempt of unknown outcome made there within the last hour.
bool any_on(pqxx::work& tx, const std::string& deployment, const std::optional<TenantId>& owner);
// Those of the ids that exist, in any state.
std::vector<SandboxRecord> find_all(pqxx::work& tx, const std::vector<std::string>& ids);

// An attempt of unknown outcome or lost race, taken for a look at its backend.
struct OpenAttempt {
  SandboxId sandbox;
  TenantId tenant;
  int ordinal = 0;
  std::string deployment;
  bool last_look = false;  // the attempt is over two minutes old
};
std::vector<OpenAttempt> take_open_attempts(pqxx::work& tx, int most,
                                            std::chrono::milliseconds ahead);
void resolve(pqxx::work& tx, const OpenAttempt& attempt);

// Takes the named lease; true for one caller per `lease`.
bool acquire_lease(pqxx::work& tx, const std::string& name, std::chrono::milliseconds lease);

// A tenant's sandboxes that have not ended, and its number of creates in the last minute.
struct Load {
  int64_t sandboxes = 0, milli_vcpu = 0, created_last_minute = 0;
};
Load load_of(pqxx::work& tx, const TenantId& tenant);
// How long it takes until fewer than `limit` creates of the tenant are less than a minute old.
// There may be many more than that now: a limit counts what came before it.
std::chrono::milliseconds until_fewer_creates(pqxx::work& tx, const TenantId& tenant,
                                              int64_t limit);

// All columns of SandboxRecord in from_row()'s order, for SELECT and RETURNING.
std::string columns();
SandboxRecord from_row(const pqxx::row& row);
std::optional<SandboxRecord> first_of(const pqxx::result& rows);  // empty: no rows
std::vector<SandboxRecord> all_of(const pqxx::result& rows);

}  // namespace sandgate::sandbox_rows
