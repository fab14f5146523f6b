#include "gateway/sandboxes/rows/record.hpp"

#include <algorithm>
#include <array>

namespace sandgate {
namespace {

constexpr Words kStateWords(
    {Word{SandboxState::creating, "creating"}, Word{SandboxState::running, "running"},
     Word{SandboxState::pausing, "pausing"}, Word{SandboxState::paused, "paused"},
     Word{SandboxState::resuming, "resuming"}, Word{SandboxState::stopping, "stopping"},
     Word{SandboxState::stopped, "stopped"}, Word{SandboxState::failed, "failed"}});

Json backend_json(const SandboxRecord& record) {
  if (record.deployment.empty()) return nullptr;
  Json region;
  if (!record.region.empty()) region = record.region;
  return {{"deployment", record.deployment},
          {"provider", record.provider},
          {"isolation", to_string(record.isolation)},
          {"region", std::move(region)}};
}

// What is known of the end of a sandbox; empty when that is no more than its state.
std::string end_of(const SandboxRecord& record) {
  const std::string& reason = record.ended_reason;
  if (reason == "killed") return "the sandbox was ended by a call";
  if (reason == "budget") return "the sandbox was ended since its budget was used up";
  if (reason == "expired") return "the sandbox ended when its time to live was over";
  // Without a limit here it is one of the backend's.
  if (reason == "idle" && record.idle_timeout_seconds == 0)
    return "the sandbox ended after some time without use";
  if (reason == "idle")
    return "the sandbox ended after " + std::to_string(record.idle_timeout_seconds) +
           " s without use";
  if (reason == "failed" && record.failure) return "the sandbox failed: " + record.failure->detail;
  return "";
}

}  // namespace

std::string_view to_string(SandboxState state) { return kStateWords.of(state); }

std::optional<SandboxState> sandbox_state_from(std::string_view text) {
  return kStateWords.find(text);
}

bool is_ended(SandboxState state) {
  return state == SandboxState::stopped || state == SandboxState::failed;
}

bool is_ending(SandboxState state) { return state == SandboxState::stopping || is_ended(state); }

bool is_settled(SandboxState state) {
  return state == SandboxState::running || state == SandboxState::paused || is_ended(state);
}

bool waits_paused(const SandboxRecord& record) {
  return record.state == SandboxState::paused && record.on_expiry == EndAction::pause;
}

bool begins_anew(const SandboxRecord& record, Time at) {
  const bool waited = record.on_expiry == EndAction::pause && record.expires_at <= at;
  return record.kill_once_resumed || waited;
}

bool is_placed_as(const SandboxRecord& record, std::string_view provider,
                  std::string_view backend_id) {
  return record.provider == provider && record.backend_id == backend_id;
}

Error wrong_state(SandboxState state) { return wrong_state(SandboxRecord{.state = state}); }

Error wrong_state(const SandboxRecord& record) {
  const std::string_view state = to_string(record.state);
  const std::string end = is_ending(record.state) ? end_of(record) : "";
  Error error(ErrorCode::conflict, end.empty() ? "the sandbox is " + std::string(state) : end);
  error.details = {{"state", state}};
  return error;
}

Error is_being_changed() {
  Error error(ErrorCode::conflict, "others pause and resume the sandbox meanwhile: try again");
  error.retry_after = std::chrono::seconds(1);
  return error;
}

void check_running(const SandboxRecord& record) {
  if (record.state != SandboxState::running) throw wrong_state(record);
}

Json to_json(const SandboxRecord& record) {
  Json price;
  if (record.charge_per_hour) price = *record.charge_per_hour;
  Json document = {
      {"id", record.id.value},
      {"state", to_string(record.state)},
      {"profile", {{"name", record.profile}, {"version", record.profile_version}}},
      {"backend", backend_json(record)},
      {"persistence", to_string(record.persistence)},
      {"resources", to_json(record.resources)},
      {"created_at", to_rfc3339(record.created_at)},
      {"expires_at", to_rfc3339(record.expires_at)},
      {"idle_timeout_seconds", record.idle_timeout_seconds},
      {"metadata", record.metadata},
      {"cost", {{"currency", record.currency}, {"estimated_per_hour", std::move(price)}}},
      {"decision", record.decision.value}};
  if (!record.other_currencies.empty())
    document["cost"]["other_currencies"] = record.other_currencies;
  if (record.ended_at) document["ended_at"] = to_rfc3339(*record.ended_at);
  if (!record.ended_reason.empty()) document["ended_reason"] = record.ended_reason;
  const bool kept_is_known =
      record.state == SandboxState::paused || record.state == SandboxState::running;
  if (record.kept && kept_is_known) document["kept"] = to_string(*record.kept);
  if (record.state == SandboxState::failed && record.failure)
    document["failure"] = {{"code", record.failure->code}, {"detail", record.failure->detail}};
  return document;
}

}  // namespace sandgate
