#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "billing/meter.hpp"
#include "gateway/sandboxes/record.hpp"

// The rows of sandboxes, decisions and attempts, once they are there (births.hpp): every statement
// on them that changes state. Each function is one round trip in the caller's transaction. A
// transition takes place only from the states it names; an empty answer means that someone else was
// faster.
namespace sandgate::sandbox_rows {

struct Stop {
  std::string reason;  // killed, expired, idle, failed
  std::optional<SandboxFailure> failure;  // ends as failed
  std::chrono::milliseconds lease{30'000};  // how long the caller may take before the reaper tries
  bool placed_only = false;  // not while still creating
};
// creating, running, pausing, paused, resuming -> stopping. Only one caller ever wins.
std::optional<SandboxRecord> set_stopping(pqxx::work& tx, const SandboxId& id, const Stop& stop);
// stopping -> stopped or failed. Need not be durable: killing again is harmless.
struct Ended {
  Time at;  // where its charge ended
  std::string backend_id;
};
std::optional<Ended> set_ended(pqxx::work& tx, const SandboxId& id);
// running, paused -> stopped (killed) of one that is gone from its backend: its charge ends `at`
// (now at the latest), with what was counted, and is booked by Meter::book_ends. A transaction by
// itself. Empty: nothing was changed, and the end has to be written in steps, as that of whoever
// has budgets.
std::optional<Time> set_ended_at_once(pqxx::nontransaction& statement, const SandboxId& id, Time at,
                                      const Meter::Measured& counted);
// Puts the next try of a stopping one off, by 1 s doubling to 60 s.
void put_off(pqxx::work& tx, const SandboxId& id);

// Rows that fulfil a condition of ours (SQL; $1 is `ahead` in milliseconds) -> stopping, at most
// `most` of them; rows that another replica works on are left out.
std::vector<SandboxRecord> stop_where(pqxx::work& tx, const std::string& condition,
                                      const Stop& stop, int most, std::chrono::milliseconds ahead);
// Those in `states` (SQL of ours) whose lease is over, leased to the caller for `lease`; those of
// another machine than `machine` (see LocalProvider) are left to the gateway there.
std::vector<SandboxRecord> take_due(pqxx::work& tx, const std::string& states,
                                    const std::string& machine, int most,
                                    std::chrono::milliseconds lease,
                                    std::chrono::milliseconds ahead);

// The condition (SQL) that a sandbox does not stand on another machine than the parameter names.
std::string not_elsewhere(const std::string& parameter);

// running or paused: new end, counted from now.
std::optional<SandboxRecord> set_expiry(pqxx::work& tx, const SandboxId& id, int64_t ttl_seconds);

std::optional<SandboxRecord> find(pqxx::work& tx, const SandboxId& id);

struct Filter {
  TenantId tenant;
  std::vector<SandboxState> states;  // empty: any
  std::string profile, deployment;  // empty: any
  std::optional<int64_t> profile_version;
  std::map<std::string, std::string> metadata;  // all of them
  std::optional<std::pair<Time, std::string>> after;  // created_at and id of the last one seen
  int64_t rows = 50;
};
// Newest first.
std::vector<SandboxRecord> list(pqxx::work& tx, const Filter& filter);

// The decision with attempts and choice, as the API shows it; empty when unknown.
std::optional<Json> find_decision(pqxx::work& tx, const SandboxId& id);

// Those a deployment must have: running or paused there. `owner`: of a tenant's own deployment.
std::vector<SandboxRecord> expected_on(pqxx::work& tx, const std::string& deployment,
                                       const std::optional<TenantId>& owner);
// Keeps deployments that a tenant may use from being removed or disabled until the transaction
// ends. False when one of them already was.
bool hold_deployments(pqxx::work& tx, const TenantId& tenant,
                      const std::vector<std::string>& names);
// Whether anything is, or may come to be, on a deployment: sandboxes that have not ended for good,
// snapshots.
bool any_on(pqxx::work& tx, const std::string& deployment, const std::optional<TenantId>& owner);
// Those of the given ids that exist, in any state.
std::vector<SandboxRecord> find_all(pqxx::work& tx, const std::vector<std::string>& ids);

// An attempt nobody knows the outcome of, taken for a look.
struct OpenAttempt {
  SandboxId sandbox;
  TenantId tenant;
  int ordinal = 0;
  std::string deployment;
  bool last_look = false;  // over two minutes old
};
std::vector<OpenAttempt> take_open_attempts(pqxx::work& tx, int most,
                                            std::chrono::milliseconds ahead);
void resolve(pqxx::work& tx, const OpenAttempt& attempt);

// True for one caller per `lease`.
bool take_turn(pqxx::work& tx, const std::string& name, std::chrono::milliseconds lease);

// What a tenant has running (everything that has not ended) and created in the last minute.
struct Load {
  int64_t sandboxes = 0, milli_vcpu = 0, created_last_minute = 0;
  std::chrono::milliseconds oldest_leaves_in{0};  // until the oldest of that minute no more counts
};
Load load_of(pqxx::work& tx, const TenantId& tenant);

// All columns of SandboxRecord, in the order that `from_row` reads; for `SELECT`/`RETURNING`.
std::string columns();
SandboxRecord from_row(const pqxx::row& row);
std::optional<SandboxRecord> first_of(const pqxx::result& rows);  // empty when there are none

}  // namespace sandgate::sandbox_rows
