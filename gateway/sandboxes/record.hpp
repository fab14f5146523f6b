#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "providers/sandbox.hpp"
#include "registry/profile.hpp"

namespace sandgate {

enum class SandboxState { creating, running, pausing, paused, resuming, stopping, stopped, failed };

std::string_view to_string(SandboxState state);
std::optional<SandboxState> sandbox_state_from(std::string_view text);
// Ended for good: nothing changes any more.
bool is_ended(SandboxState state);
// Not on its way anywhere: what a cache may keep.
bool is_settled(SandboxState state);

// Why a sandbox is `failed`.
struct SandboxFailure {
  std::string code;  // "backend_lost", or an ErrorCode's word for a create
  std::string detail;
};

// One sandbox as the registry knows it.
struct SandboxRecord {
  SandboxId id;
  TenantId tenant;
  SandboxState state = SandboxState::creating;
  std::string profile;
  int profile_version = 0;
  int64_t profile_id = 0;  // whose profile of that name it is; 0: not known any more
  DecisionId decision;
  std::string key;  // id of the key that asks for it; known while it is created, not in its row

  std::string deployment, provider, backend_id, region;  // empty until placed
  Isolation isolation = Isolation::container;  // asked for; once placed, what it really is
  Persistence persistence = Persistence::ephemeral;
  Resources resources;
  std::map<std::string, std::string> metadata;
  std::optional<std::string> charge_per_hour;  // exact decimal
  std::string currency = "USD";
  std::set<std::string> other_currencies;  // that something of it is charged in, not in that number

  Time created_at, expires_at;
  std::optional<Time> ended_at;
  int64_t ttl_seconds = 0;
  int64_t max_ttl_seconds = 0;
  EndAction on_expiry = EndAction::kill;
  int64_t idle_timeout_seconds = 0;  // 0: none
  EndAction on_idle = EndAction::kill;
  bool auto_resume = false;
  std::optional<SandboxFailure> failure;
  std::optional<Keeps> kept;  // paused: what survived; pausing: what was asked for
  std::vector<std::string> planned;  // deployments that may hold it while creating
  int64_t revision = 0;  // the transaction that wrote its row, which notifications name
};

// Paused, and pausing is all that the end of its time would do: it waits for whoever resumes or
// ends it.
bool waits_paused(const SandboxRecord& record);
// Whether that is the sandbox that a backend of this kind lists under this id, whichever deployment
// made it: deployments may be one account at a vendor under different keys.
bool is_placed_as(const SandboxRecord& record, std::string_view provider,
                  std::string_view backend_id);
// Error(conflict) with the detail {"state": …}: what was asked for is not to be had in its state.
Error wrong_state(SandboxState state);
Error wrong_state(const SandboxRecord& record);
// Error(conflict) to be tried again: what was asked for is to be had in its state, which others
// change again and again.
Error is_being_changed();
// Throws wrong_state for one that has ended or does not run now.
void check_running(const SandboxRecord& record);

// As every answer of the API shows it.
Json to_json(const SandboxRecord& record);

}  // namespace sandgate
