#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/placement/decision.hpp"
#include "gateway/sandboxes/record.hpp"

// How sandboxes come to have rows: the intention, what becomes of it, or both at once. Each
// function is one round trip. Those that say where a sandbox is throw what is_taken knows when
// another one, which has not ended, is the same one at its backend.
namespace sandgate::sandbox_rows {

// What a new row has beside the sandbox's record.
struct Birth {
  const Decision& decision;
  std::chrono::milliseconds lease;  // how long the creator of one in state creating may take
  const Json& wishes;  // what wishes_of reads
  const std::string& scope_key;  // what scope_key_of says
  std::optional<std::string> sealed_env = std::nullopt;  // see given_env
  bool own = false;  // running: on a deployment of its tenant's own
};
// A row in the record's state, with the decision: the intention is `creating`, what is placed
// already `running`, with the attempts that led there. Empty: there is a row of it.
std::optional<SandboxRecord> insert(pqxx::work& tx, const SandboxRecord& record,
                                    const Birth& birth);

// The same of tenants that nothing is to be judged of, neither limits nor budgets. Empty: nothing
// was written, or there is a row of it.
std::optional<SandboxRecord> insert_free(pqxx::work& tx, const SandboxRecord& record,
                                         const Birth& birth);
// That and the meter too, of what runs, as a transaction by itself: only while the database's clock
// says that it is before `until`, since a server that stood still comes to it when nobody waits any
// more. `key` is the caller's, for the meter.
std::optional<SandboxRecord> insert_at_once(pqxx::nontransaction& statement,
                                            const SandboxRecord& running, const Birth& birth,
                                            const std::string& key, Time until);

// Of a row that was inserted as running before it did: the attempts that led there, and from now on
// its meter. `key` is the caller's.
void begin(pqxx::work& tx, const SandboxId& id, const std::vector<Attempt>& attempts,
           const std::string& key);

// creating -> running, with all of `placed`'s backend fields and prices; expires_at counts from
// now. `own`: on a deployment of its tenant's own. Empty: somebody ended it.
std::optional<SandboxRecord> set_running(pqxx::work& tx, const SandboxRecord& placed, bool own,
                                         const std::vector<Attempt>& attempts);
bool is_taken(const Error& error);
// creating -> failed; false: somebody ended it.
bool set_not_created(pqxx::work& tx, const SandboxId& id, const SandboxFailure& failure,
                     const std::vector<Attempt>& attempts);

}  // namespace sandgate::sandbox_rows
