#include "gateway/sandboxes/upkeep/state_alignment.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/rows/snapshot_rows.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"

namespace sandgate {
namespace {

bool differs(const SandboxRecord& record, BackendState there) {
  return there == BackendState::paused    ? record.state == SandboxState::running
         : there == BackendState::running ? record.state == SandboxState::paused
                                          : false;
}

// Empty while the disk is copied: some backends pause a sandbox for that, and resume it.
Task<std::optional<std::string>> transition_of(Database& database, SandboxId id) {
  auto read = [id](pqxx::work& tx) {
    return snapshot_rows::is_copied(tx, id) ? std::nullopt : sandbox_rows::last_transition(tx, id);
  };
  co_return co_await database.run(std::move(read));
}

// A pause or resume writes its row first and last, so none was under way between two readings of
// the same transition; nor was a copy, which takes longer than a question.
Task<bool> still_differs(Database& database, DeploymentPtr deployment, SandboxRecord record) {
  const auto before = co_await transition_of(database, record.id);
  if (!before || !before->starts_with(to_string(record.state))) co_return false;
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt(std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || !*found || !differs(record, (*found)->state)) co_return false;
  const auto after = co_await transition_of(database, record.id);
  co_return after == before;
}

Task<void> align(Lifecycle& lifecycle, DeploymentPtr deployment, SandboxRecord record) {
  log::warn("a sandbox is not in the state of its row",
            {{"sandbox", record.id.value}, {"row", to_string(record.state)}});
  lifecycle.parts().cache.invalidate(record.id);
  Pausing pausing(lifecycle);
  const bool was_paused = record.state == SandboxState::running;
  auto moving = was_paused ? pausing.pause(record.tenant, record.id, Keeps::memory)
                           : pausing.resume(record.tenant, record.id);
  const auto outcome = co_await attempt(std::move(moving));
  const auto* refusal = std::get_if<Error>(&outcome);
  if (!refusal) co_return;
  log::warn("the row of a sandbox was not changed",
            {{"sandbox", record.id.value}, {"reason", refusal->what()}});
  if (was_paused || refusal->code != ErrorCode::budget_exceeded) co_return;
  auto stopping =
      deployment->backend->pause(record.backend_id, record.kept.value_or(Keeps::memory));
  co_await attempt(std::move(stopping));
}

Task<void> align_row(Lifecycle& lifecycle, SandboxId id) {
  auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  const auto record = co_await lifecycle.parts().database.run(std::move(read));
  if (!record) co_return;
  const auto deployment = lifecycle.parts().deployments.find(record->tenant, record->deployment);
  if (!deployment || !is_on_own_machine(id.value, record->backend_id, deployment->descriptor))
    co_return;
  const auto found = co_await deployment->backend->find(record->backend_id);
  if (!found) co_return;
  auto aligning = align_states(lifecycle, deployment, {*record}, {*found});
  co_await std::move(aligning);
}

}  // namespace

Task<size_t> align_states(Lifecycle& lifecycle, DeploymentPtr deployment,
                          std::vector<SandboxRecord> expected, std::vector<BackendSandbox> listed) {
  std::map<std::string, BackendState> there;
  for (const BackendSandbox& one : listed) there.emplace(one.backend_id, one.state);
  size_t differing = 0;
  for (const SandboxRecord& record : expected) {
    const auto found = there.find(record.backend_id);
    if (found == there.end() || !differs(record, found->second)) continue;
    const bool confirmed = co_await still_differs(lifecycle.parts().database, deployment, record);
    if (!confirmed) continue;
    ++differing;
    co_await align(lifecycle, deployment, record);
  }
  co_return differing;
}

Task<void> align_state(Lifecycle& lifecycle, SandboxId id) {
  auto aligning = align_row(lifecycle, std::move(id));
  const auto outcome = co_await attempt(std::move(aligning));
  if (const auto* error = std::get_if<Error>(&outcome))
    log::info("the state of a sandbox was not compared", {{"reason", error->what()}});
}

Task<CachedSandboxPtr> refresh_state(Lifecycle& lifecycle, TenantId tenant, SandboxId id) {
  auto looking = lifecycle.look_at(tenant, id);
  const Lifecycle::Seen seen = co_await std::move(looking);
  const SandboxRecord& record = seen.known->record;
  const bool is_paused_there = seen.there == BackendState::paused;
  if (record.state != SandboxState::running || !is_paused_there) co_return seen.known;
  const BackendSandbox there{.backend_id = record.backend_id, .state = BackendState::paused};
  auto aligning = align_states(lifecycle, lifecycle.deployment_of(record), {record}, {there});
  co_await std::move(aligning);
  co_return co_await lifecycle.get(std::move(tenant), std::move(id));
}

}  // namespace sandgate
