#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/placement/decision.hpp"
#include "gateway/sandboxes/rows/record.hpp"

// SQL statements that insert a sandbox's row or complete its create. Each function is one round
// trip. Those that set a backend id throw an error for which is_taken() holds when another sandbox
// that has not ended has the same id on the same deployment.
namespace sandgate::sandbox_rows {

// What a new row holds besides the SandboxRecord.
struct NewRow {
  const Decision& decision;
  std::chrono::milliseconds lease;  // state creating: time limit of its creator
  const Json& overrides;  // see overrides_of
  const std::string& scope_key;  // see scope_key_of
  std::optional<std::string> sealed_env = std::nullopt;  // see given_env
  bool own = false;  // running: on a deployment owned by its tenant
};
// Inserts a row in the record's state with its decision: an intention (`creating`), or a placed
// sandbox (`running`) with its attempts. Empty: the id already has a row.
std::optional<SandboxRecord> insert(pqxx::work& tx, const SandboxRecord& record, const NewRow& row);

// As insert(), for tenants without limits and budgets. Empty: nothing was written, because the
// tenant has limits or budgets or the id already has a row.
std::optional<SandboxRecord> insert_unlimited(pqxx::work& tx, const SandboxRecord& record,
                                              const NewRow& row);
// As insert_unlimited(), also opening the meter, as a transaction of its own. Writes only while the
// database's clock is before `until`: a stalled server may run the statement after the caller has
// given up. `key` is the id of the caller's API key, for the meter.
std::optional<SandboxRecord> try_fast_insert(pqxx::nontransaction& statement,
                                             const SandboxRecord& running, const NewRow& row,
                                             const std::string& key, Time until);

// For a row inserted as running before its backend answered: adds the attempts and opens the meter.
// `key` is the id of the caller's API key.
void begin(pqxx::work& tx, const SandboxId& id, const std::vector<Attempt>& attempts,
           const std::string& key);

// creating -> running, with the backend fields and price of `placed`; expires_at counts from now.
// `own`: on a deployment owned by its tenant. Empty: somebody ended the sandbox.
std::optional<SandboxRecord> set_running(pqxx::work& tx, const SandboxRecord& placed, bool own,
                                         const std::vector<Attempt>& attempts);
bool is_taken(const Error& error);
// creating -> failed; false when somebody ended the sandbox.
bool set_not_created(pqxx::work& tx, const SandboxId& id, const SandboxFailure& failure,
                     const std::vector<Attempt>& attempts);

}  // namespace sandgate::sandbox_rows
