#pragma once
#include "gateway/sandboxes/store.hpp"

// The statements of pausing and resuming; the same rules as in store.hpp.
namespace sandgate::sandbox_rows {

// running -> pausing; `wish` is what to keep.
std::optional<SandboxRecord> set_pausing(pqxx::work& tx, const SandboxId& id, Keeps wish,
                                         std::chrono::milliseconds lease);
// pausing -> paused, with what was really kept.
std::optional<SandboxRecord> set_paused(pqxx::work& tx, const SandboxId& id, Keeps kept);
// paused -> resuming.
std::optional<SandboxRecord> set_resuming(pqxx::work& tx, const SandboxId& id,
                                          std::chrono::milliseconds lease);
// resuming -> running. One whose time was over when it was paused lives its ttl again.
std::optional<SandboxRecord> set_resumed(pqxx::work& tx, const SandboxId& id);
// pausing -> running, resuming -> paused: the backend refused.
std::optional<SandboxRecord> set_back(pqxx::work& tx, const SandboxId& id);
// pausing -> running: it is in use, as whoever asks knows (`used`), or its row, which does not
// fulfil a condition of ours (as in stop_where) any more.
bool set_back_in_use(pqxx::work& tx, const SandboxId& id, bool used, const std::string& condition,
                     std::chrono::milliseconds ahead);

// Running rows that fulfil a condition of ours (as in stop_where) -> pausing.
std::vector<SandboxRecord> pause_where(pqxx::work& tx, const std::string& condition, int most,
                                       std::chrono::milliseconds ahead,
                                       std::chrono::milliseconds lease);
// Pausing or resuming, nobody knows how far: the next try is due after 1 s, doubling to 60 s.
void put_off_pausing(pqxx::work& tx, const SandboxId& id);
// What a sandbox's create asked for; {} when unknown.
Json wishes_of(pqxx::work& tx, const SandboxId& id);
// What its copies are to ask for; no effect when it is not there.
void set_network_wish(pqxx::work& tx, const SandboxId& id, const Json& network);

}  // namespace sandgate::sandbox_rows
