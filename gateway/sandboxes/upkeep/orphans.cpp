#include "gateway/sandboxes/upkeep/orphans.hpp"

#include <algorithm>

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/paused_meter.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {
namespace {

// Bounds on the age and size that a backend may claim.
constexpr std::chrono::hours kOldest{31 * 24};
constexpr int64_t kLargest = 1 << 30;

std::string owner_of(const Deployment& deployment) {
  return deployment.tenant ? deployment.tenant->value : "";
}

MeterState meter_state_of(const BackendSandbox& sandbox, const Descriptor& descriptor) {
  if (sandbox.state != BackendState::paused) return MeterState::running;
  return metered_while_paused(sandbox.kept, descriptor);
}

Resources size_of(const BackendSandbox& sandbox, const std::optional<SandboxRecord>& record) {
  Resources size = sandbox.resources.value_or(record ? record->resources : Resources());
  for (int64_t* part : {&size.milli_vcpu, &size.memory_mib, &size.disk_gib})
    *part = std::clamp<int64_t>(*part, 0, kLargest);
  return size;
}

Orphan orphan_of(pqxx::work& tx, const Deployment& deployment, const BackendSandbox& one,
                 Time seen) {
  const auto record = sandbox_rows::find(tx, SandboxId{one.sandbox_id});
  // No sandbox is older than its create request.
  const Time oldest = record ? record->created_at : seen - kOldest;
  const Time since = one.created_at.value_or(record ? oldest : seen);
  return {.id = SandboxId{one.sandbox_id},
          .backend_id = one.backend_id,
          .deployment = deployment.name,
          .provider = deployment.provider,
          .region = one.region.empty() ? deployment.region() : one.region,
          .owner = owner_of(deployment),
          .state = meter_state_of(one, deployment.descriptor),
          .resources = size_of(one, record),
          .since = std::min(std::max(since, oldest), seen),
          .placed = record && is_placed_as(*record, deployment.provider, one.backend_id)};
}

// The vendor's clock is another one.
Time made_at(const UnwantedSandbox& unwanted, Time now) {
  const auto age = std::chrono::steady_clock::now() - unwanted.asked_at;
  const Time asked_at = now - std::chrono::duration_cast<Time::duration>(age);
  return std::clamp(unwanted.sandbox.created_at.value_or(asked_at), asked_at, now);
}

Orphan orphan_of(const UnwantedSandbox& unwanted, Time now) {
  const Deployment& deployment = *unwanted.deployment;
  const BackendSandbox& made = unwanted.sandbox;
  return {.id = SandboxId{made.sandbox_id},
          .backend_id = made.backend_id,
          .deployment = deployment.name,
          .provider = deployment.provider,
          .region = made.region.empty() ? deployment.region() : made.region,
          .resources = deployment.granted(unwanted.asked),
          .since = made_at(unwanted, now)};
}

bool costs_us(const Deployment& deployment) {
  return !deployment.tenant && deployment.descriptor.machine.empty();
}

Task<void> book_end(const LifecycleParts& parts, DeploymentPtr deployment, std::string backend_id) {
  auto write = [&parts, deployment, backend_id](pqxx::work& tx) {
    parts.losses->end(tx, deployment->name, owner_of(*deployment), backend_id);
  };
  co_await parts.database.run(std::move(write));
}

}  // namespace

Task<void> kill_orphan(const LifecycleParts& parts, DeploymentPtr deployment, BackendSandbox orphan,
                       Time seen) {
  log::warn("an orphan is killed",
            {{"sandbox", orphan.sandbox_id}, {"deployment", deployment->name}});
  auto note = [deployment, orphan, seen](pqxx::work& tx) {
    Losses::record_orphan(tx, orphan_of(tx, *deployment, orphan, seen));
  };
  co_await parts.database.run(std::move(note));
  auto killing = deployment->backend->kill(orphan.backend_id);
  const auto outcome = co_await attempt(std::move(killing));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found) throw *error;
  co_await book_end(parts, deployment, orphan.backend_id);
}

Task<void> discard_at_a_loss(const LifecycleParts& parts, UnwantedSandbox unwanted) {
  const DeploymentPtr deployment = unwanted.deployment;
  if (!costs_us(*deployment)) {
    co_await discard_sandbox(std::move(unwanted));
    co_return;
  }
  const bool is_anothers = co_await is_of_another_create(unwanted);
  if (is_anothers) co_return;
  const Time now = parts.clock.now();
  auto note = [orphan = orphan_of(unwanted, now)](pqxx::work& tx) {
    Losses::record_orphan(tx, orphan);
  };
  auto noting = parts.database.run(std::move(note));
  const auto noted = co_await attempt(std::move(noting));
  co_await deployment->backend->kill(unwanted.sandbox.backend_id);
  if (std::holds_alternative<Error>(noted))
    log::warn("the cost of a sandbox that was not kept is not booked",
              {{"sandbox", unwanted.sandbox.sandbox_id}, {"deployment", deployment->name}});
  else
    co_await book_end(parts, deployment, unwanted.sandbox.backend_id);
}

DiscardSandbox discarding_at_a_loss(const LifecycleParts& parts) {
  return
      [&parts](UnwantedSandbox unwanted) { return discard_at_a_loss(parts, std::move(unwanted)); };
}

Task<void> book_ended_orphans(const LifecycleParts& parts, DeploymentPtr deployment,
                              std::set<std::string> listed) {
  auto read = [deployment](pqxx::work& tx) {
    return Losses::open(tx, deployment->name, owner_of(*deployment));
  };
  const auto open = co_await parts.database.run(std::move(read));
  for (const std::string& backend_id : open) {
    if (listed.contains(backend_id)) continue;
    auto finding = deployment->backend->find(backend_id);
    const auto outcome = co_await attempt(std::move(finding));
    const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
    if (!found || (*found && (*found)->state != BackendState::gone)) continue;
    co_await book_end(parts, deployment, backend_id);
  }
}

}  // namespace sandgate
