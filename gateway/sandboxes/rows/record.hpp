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
// Whether the state is final.
bool is_ended(SandboxState state);
// Whether the state is final, or `stopping` and so about to be.
bool is_ending(SandboxState state);
// Whether no transition is under way; only such states are cached.
bool is_settled(SandboxState state);

// Why a sandbox is `failed`.
struct SandboxFailure {
  std::string code;  // "backend_lost", or an ErrorCode's word for a failed create
  std::string detail;
};

inline constexpr std::string_view kKilled = "killed";  // the ended_reason of an end by a call

// One sandbox as the registry stores it.
struct SandboxRecord {
  SandboxId id;
  TenantId tenant;
  SandboxState state = SandboxState::creating;
  std::string profile;
  int profile_version = 0;
  int64_t profile_id = 0;  // row id of the profile; 0: unknown
  DecisionId decision;
  std::string key;  // id of the API key; set during the create only, not stored

  std::string deployment, provider, backend_id, region;  // empty until placed
  Isolation isolation = Isolation::container;  // requested; once placed, actual
  Persistence persistence = Persistence::ephemeral;
  Resources resources;
  std::map<std::string, std::string> metadata;
  std::optional<std::string> charge_per_hour;  // exact decimal
  std::string currency = "USD";
  std::set<std::string> other_currencies;  // currencies of charges outside charge_per_hour

  Time created_at, expires_at;
  std::optional<Time> ended_at;
  std::string ended_reason;  // killed, budget, expired, idle, failed; empty until it is to end
  int64_t ttl_seconds = 0;
  int64_t max_ttl_seconds = 0;
  EndAction on_expiry = EndAction::kill;
  bool kill_once_resumed = false;  // on_expiry is `pause` only until the sandbox runs again
  int64_t idle_timeout_seconds = 0;  // 0: none
  EndAction on_idle = EndAction::kill;
  bool auto_resume = false;
  std::optional<SandboxFailure> failure;
  std::optional<Keeps> kept;  // paused: what survived; pausing: what was requested
  std::vector<std::string> planned;  // while creating: deployments that may hold it
  int64_t revision = 0;  // transaction id of the row's last write, sent with notifications
};

// Whether the sandbox is paused and stays so when its TTL ends, since on_expiry is `pause`.
bool waits_paused(const SandboxRecord& record);
// Whether a paused sandbox that is resumed at `at` is given its TTL anew. If not, it goes on to its
// expiry. The rule of sandbox_rows::set_resumed().
bool begins_anew(const SandboxRecord& record, Time at);
// Whether a backend of this provider lists the record's sandbox under this id. Ignores the
// deployment: several may share one vendor account under different credentials.
bool is_placed_as(const SandboxRecord& record, std::string_view provider,
                  std::string_view backend_id);
// Error(conflict) with the detail {"state": …}: this state does not allow the operation. Of a
// record, the message says why the sandbox has ended.
Error wrong_state(SandboxState state);
Error wrong_state(const SandboxRecord& record);
// Error(conflict) with retry_after: the operation is allowed, but concurrent pauses and resumes
// kept it from taking place.
Error is_being_changed();
// Throws wrong_state unless the sandbox is running.
void check_running(const SandboxRecord& record);

// The representation in every API response.
Json to_json(const SandboxRecord& record);

}  // namespace sandgate
