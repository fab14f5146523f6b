#pragma once
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

// SQL statements of pausing and resuming; the rules of sandbox_rows.hpp apply.
namespace sandgate::sandbox_rows {

// The lease of a process that carries out a pause or resume.
inline constexpr std::chrono::seconds kPauseLease{30};

// running -> pausing; `requested` is the state to keep. `waits`: on_expiry is `pause` until the
// sandbox runs again, so that it outlives its TTL while it is paused.
std::optional<SandboxRecord> set_pausing(pqxx::work& tx, const SandboxId& id, Keeps requested,
                                         std::chrono::milliseconds lease, bool waits = false);
// pausing -> paused; `kept` is the state that was kept.
std::optional<SandboxRecord> set_paused(pqxx::work& tx, const SandboxId& id, Keeps kept);
// paused -> resuming.
std::optional<SandboxRecord> set_resuming(pqxx::work& tx, const SandboxId& id,
                                          std::chrono::milliseconds lease);
// resuming -> running. The TTL starts again if it is over and on_expiry is pause, and always after
// a pause that waits, whose end restores on_expiry.
std::optional<SandboxRecord> set_resumed(pqxx::work& tx, const SandboxId& id);
// pausing -> running, resuming -> paused, after a refusal by the backend. pause_due() does not
// take the row for 1 s then, doubling to 60 s.
std::optional<SandboxRecord> revert(pqxx::work& tx, const SandboxId& id);
// pausing -> running when the sandbox is in use: `used` says so, or its idle timeout is no
// longer over. False: not in use, or not pausing.
bool revert_if_used(pqxx::work& tx, const SandboxId& id, bool used,
                    std::chrono::milliseconds ahead);

// Running rows to be paused for idleness.
std::vector<SandboxId> find_idle_to_pause(pqxx::work& tx, int most,
                                          std::chrono::milliseconds ahead);
// Running rows to be paused, because their TTL or idle timeout is over, that are not put off and
// were not created before `created_since` -> pausing.
std::vector<SandboxRecord> pause_due(pqxx::work& tx, Time created_since, int most,
                                     std::chrono::milliseconds ahead,
                                     std::chrono::milliseconds lease);
// Postpones the next try of a pausing or resuming row, by 1 s doubling to 60 s. False: no such row.
bool postpone_pausing(pqxx::work& tx, const SandboxId& id);
// The sandbox's state, then what each pause or resume changes; empty: no such row.
std::optional<std::string> last_transition(pqxx::work& tx, const SandboxId& id);
// How often that or revert() was done since set_pausing() or set_resuming(); 0: no such row.
int count_postponed(pqxx::work& tx, const SandboxId& id);
// The overrides in the sandbox's create request; {} when unknown.
Json overrides_of(pqxx::work& tx, const SandboxId& id);
// Takes a sandbox whose network becomes another than its create asked for out of its scope, so that
// later creates do not get it; a session keeps its own. Call before the network changes.
void leave_scope(pqxx::work& tx, const SandboxId& id, const Json& network);
// Changes the network override that copies inherit; no effect when the row does not exist.
void set_network_override(pqxx::work& tx, const SandboxId& id, const Json& network);

}  // namespace sandgate::sandbox_rows
