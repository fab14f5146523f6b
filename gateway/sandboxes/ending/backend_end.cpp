#include "gateway/sandboxes/ending/backend_end.hpp"

#include <algorithm>

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/ending/measured_end.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"
#include "gateway/sandboxes/upkeep/orphans.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kKillTimeout{10}, kFindTimeout{5};
constexpr size_t kKillsAtOnce = 64;

// Whether the backend says that it has no such sandbox, after a kill that it refused. Only the
// gateway of its own machine can ask there.
Task<bool> is_gone(const Deployment& deployment, SandboxRecord record) {
  if (is_elsewhere(record.id.value, record.backend_id, deployment.descriptor)) co_return false;
  const auto outcome = co_await attempt(deployment.backend->find(record.backend_id));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  co_return found && (!*found || (*found)->state == BackendState::gone);
}

// Returns once the backend certainly has no such sandbox. Throws when it does not answer.
Task<void> kill_on(const LifecycleParts& parts, DeploymentPtr deployment, SandboxRecord record) {
  const std::string backend_id = record.deployment == deployment->name ? record.backend_id : "";
  if (backend_id.empty()) {
    const auto orphan = co_await deployment->backend->find_by_tag(record.id.value);
    if (orphan) co_await kill_orphan(parts, deployment, *orphan, parts.clock.now());
    co_return;
  }
  const auto outcome = co_await attempt(deployment->backend->kill(backend_id));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error || error->code == ErrorCode::not_found) co_return;
  // Some do what they are told and answer that it failed, each time.
  const bool gone = co_await is_gone(*deployment, record);
  if (!gone) throw *error;
}

// False when the backend does not answer.
Task<bool> kill_at(const LifecycleParts& parts, std::string name, SandboxRecord record) {
  const auto deployment = parts.deployments.find(record.tenant, name);
  if (!deployment) {
    // The sandbox cannot be reached; it lives on until the deployment is back.
    log::warn("the deployment of a sandbox to kill is gone",
              {{"sandbox", record.id.value}, {"deployment", name}});
    co_return false;
  }
  auto killing = kill_on(parts, deployment, record);
  const auto outcome = co_await attempt_within(kKillTimeout, std::move(killing));
  const bool killed = !std::holds_alternative<Error>(outcome);
  if (!killed)
    log::warn("a backend did not kill a sandbox",
              {{"sandbox", record.id.value}, {"deployment", name}});
  co_return killed;
}

}  // namespace

Task<bool> kill_everywhere(const LifecycleParts& parts, SandboxRecord record) {
  if (!record.backend_id.empty()) co_return co_await kill_at(parts, record.deployment, record);
  std::vector<std::string> holders = record.planned;
  bool all = true;
  auto ask = [&parts, &record, &all](std::string name) -> Task<void> {
    const bool killed = co_await kill_at(parts, std::move(name), record);
    all = all && killed;
  };
  co_await for_each_concurrent(std::move(holders), kKillsAtOnce, ask);
  co_return all;
}

Task<std::optional<Time>> ended_by_its_time(const LifecycleParts& parts, SandboxRecord record) {
  const Time now = parts.clock.now();
  if (record.on_expiry != EndAction::kill || record.expires_at + kEndTolerance > now)
    co_return std::nullopt;
  const auto deployment = parts.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt_within(kKillTimeout, std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || (*found && (*found)->state != BackendState::gone)) co_return std::nullopt;
  const std::chrono::seconds ttl(record.ttl_seconds);
  co_return std::min(now, record.expires_at + backend_ttl(ttl, deployment->descriptor) - ttl);
}

std::optional<KnownEnd> end_told_by(const BackendSandbox& gone, const SandboxRecord& record,
                                    Time now) {
  if (gone.counted) return KnownEnd{measured_end(*gone.counted, now), gone.died, kKilled};
  if (!gone.ended) return std::nullopt;
  // The backend's clock may differ from ours.
  const Time at = std::min(now, std::max(record.created_at, gone.ended->at.value_or(now)));
  const EndAction wanted = gone.ended->idle ? record.on_idle : record.on_expiry;
  return KnownEnd{{.sampled_at = at},
                  wanted == EndAction::pause,
                  gone.ended->idle ? std::string_view("idle") : std::string_view("expired")};
}

Task<std::optional<KnownEnd>> ask_for_end(const LifecycleParts& parts, SandboxRecord record) {
  const auto deployment = parts.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  const Descriptor& descriptor = deployment->descriptor;
  if (!descriptor.reports_final_usage && !descriptor.tells_ends) co_return std::nullopt;
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt_within(kFindTimeout, std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || !*found) co_return std::nullopt;
  co_return end_told_by(**found, record, parts.clock.now());
}

}  // namespace sandgate
