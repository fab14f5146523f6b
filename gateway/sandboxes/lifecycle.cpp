#include "gateway/sandboxes/lifecycle.hpp"

#include <algorithm>

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/creation.hpp"
#include "gateway/sandboxes/elsewhere.hpp"
#include "gateway/sandboxes/orphans.hpp"
#include "gateway/sandboxes/uncancelled.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kKillTimeout{10};
constexpr size_t kKillsAtOnce = 64;
// Between two tries to kill. One on our own machine costs next to nothing, and a node that crashed
// is back within seconds.
constexpr std::chrono::seconds kKillPauseHere{2}, kKillPauseElsewhere{60};
constexpr std::chrono::seconds kReadingTimeout{1};
constexpr std::chrono::seconds kSettleTimeout{25};
constexpr int kDecideTries = 2;  // deployments may change concurrently

bool is_on_its_way(SandboxState state) {
  return state == SandboxState::pausing || state == SandboxState::resuming;
}

CachedSandboxPtr told_as_ending(std::string reason, SandboxRecord record) {
  record.state = SandboxState::stopping;
  record.ended_reason = std::move(reason);
  std::string body = to_json(record).dump();
  return std::make_shared<const CachedSandbox>(CachedSandbox{std::move(record), std::move(body)});
}

Error unknown_sandbox(const SandboxId& id) { return Error::not_found("sandbox", id.value); }

}  // namespace

Decision Lifecycle::explain(const CreateOrder& order) const {
  const auto set = parts_.deployments.snapshot();
  const auto prices = parts_.prices.snapshot();
  auto candidates = candidates_of(*set, parts_.board, *prices, order.tenant, order.request.profile,
                                  parts_.clock.now());
  for (Candidate& candidate : candidates) candidate.price_required = parts_.price_required;
  return decide(order.request, order.tenant,
                order.profile + "@" + std::to_string(order.profile_version), order.request_id,
                std::move(candidates));
}

Task<SandboxRecord> Lifecycle::create(CreateOrder order) {
  for (int tries = kDecideTries;; --tries) {
    Decision decision = explain(order);
    unpriced_log_.record(decision, parts_.price_required);
    if (decision.eligible() == 0) throw refusal_log_.record(order, nothing_eligible(decision));
    auto creation = std::make_shared<Creation>(parts_, std::move(order), std::move(decision));
    auto work = [creation]() -> Task<SandboxRecord> { return creation->run(); };
    auto creating = uncancelled(std::move(work));
    auto outcome = co_await attempt(std::move(creating));
    if (auto* made = std::get_if<SandboxRecord>(&outcome)) co_return std::move(*made);
    if (!creation->is_outdated() || tries == 1)
      throw refusal_log_.record(creation->order(), std::get<Error>(outcome));
    // The change that outdated the decision may not have reached this replica yet.
    co_await parts_.deployments.catch_up();
    order = creation->order();
  }
}

CachedSandboxPtr Lifecycle::shown_to(const TenantId& tenant, CachedSandboxPtr found) const {
  if (!found || found->record.tenant != tenant) return nullptr;
  // The caller who asked for the end was told of it, so later reads have to show it.
  if (!parts_.outage) return found;
  auto reason = parts_.outage->reason_of(found->record);
  return reason ? told_as_ending(std::move(*reason), found->record) : found;
}

Task<CachedSandboxPtr> Lifecycle::find(TenantId tenant, SandboxId id) {
  auto found = co_await parts_.cache.find(std::move(id));
  co_return shown_to(tenant, std::move(found));
}

CachedSandboxPtr Lifecycle::peek(const TenantId& tenant, const SandboxId& id) {
  return shown_to(tenant, parts_.cache.peek(id).value_or(nullptr));
}

std::map<std::string, std::string> Lifecycle::ending(const TenantId& tenant) const {
  return parts_.outage ? parts_.outage->ending(tenant) : std::map<std::string, std::string>();
}

Task<CachedSandboxPtr> Lifecycle::get(TenantId tenant, SandboxId id) {
  auto found = co_await find(std::move(tenant), id);
  if (!found) throw unknown_sandbox(id);
  co_return found;
}

Task<CachedSandboxPtr> Lifecycle::get_to_end(TenantId tenant, SandboxId id) {
  auto getting = get(tenant, id);
  const auto outcome = co_await attempt(std::move(getting));
  const Error* error = std::get_if<Error>(&outcome);
  if (!error) co_return std::get<0>(outcome);
  const auto seen = parts_.outage ? parts_.cache.last_seen(id) : nullptr;
  if (error->code != ErrorCode::unavailable || !seen || seen->record.tenant != tenant) throw *error;
  co_return seen;
}

DeploymentPtr Lifecycle::deployment_of(const SandboxRecord& record) const {
  auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment) throw Error(ErrorCode::unavailable, "the sandbox's deployment is gone");
  return deployment;
}

void Lifecycle::end_charge(pqxx::work& tx, const SandboxId& id, std::optional<Time> at,
                           const std::optional<Meter::Measured>& counters) {
  const Money uncounted = parts_.meter.close(tx, id, at, counters);
  parts_.spend.release(tx, id, uncounted);
}

Task<void> Lifecycle::kill_on(DeploymentPtr deployment, SandboxRecord record) {
  const std::string backend_id = record.deployment == deployment->name ? record.backend_id : "";
  if (backend_id.empty()) {
    const auto orphan = co_await deployment->backend->find_by_tag(record.id.value);
    if (orphan) co_await kill_orphan(parts_, deployment, *orphan, parts_.clock.now());
    co_return;
  }
  const auto outcome = co_await attempt(deployment->backend->kill(backend_id));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found) throw *error;
}

Task<bool> Lifecycle::kill_everywhere(SandboxRecord record) {
  if (!record.backend_id.empty()) co_return co_await kill_at(record.deployment, record);
  std::vector<std::string> holders = record.planned;
  bool all = true;
  auto ask = [this, &record, &all](std::string name) -> Task<void> {
    const bool killed = co_await kill_at(std::move(name), record);
    all = all && killed;
  };
  co_await for_each_concurrent(std::move(holders), kKillsAtOnce, ask);
  co_return all;
}

Task<bool> Lifecycle::kill_at(std::string name, SandboxRecord record) {
  const auto deployment = parts_.deployments.find(record.tenant, name);
  if (!deployment) {
    // The sandbox cannot be reached; it lives on until the deployment is back.
    log::warn("the deployment of a sandbox to kill is gone",
              {{"sandbox", record.id.value}, {"deployment", name}});
    co_return false;
  }
  auto killing = kill_on(deployment, record);
  const auto outcome = co_await attempt_within(kKillTimeout, std::move(killing));
  const bool killed = !std::holds_alternative<Error>(outcome);
  if (!killed)
    log::warn("a backend did not kill a sandbox",
              {{"sandbox", record.id.value}, {"deployment", name}});
  co_return killed;
}

Task<std::optional<Meter::Measured>> Lifecycle::last_reading(SandboxRecord record) {
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  // A backend that was not asked yet for what it can do may count: its last numbers come once.
  const Descriptor& descriptor = deployment->descriptor;
  if (descriptor.known && !descriptor.can(Verb::metrics)) co_return std::nullopt;
  auto reading = deployment->backend->metrics(record.backend_id);
  const auto outcome = co_await attempt_within(kReadingTimeout, std::move(reading));
  const auto* metrics = std::get_if<SandboxMetrics>(&outcome);
  if (!metrics) co_return std::nullopt;
  co_return measured_of(*metrics, parts_.clock.now());
}

Task<EndResult> Lifecycle::end_without_database(SandboxRecord record, EndIntention intention) {
  co_await parts_.outage->append(intention);
  parts_.cache.invalidate(record.id);
  auto killing = kill_during_outage(std::move(record), std::move(intention));
  co_return co_await std::move(killing);
}

Task<EndResult> Lifecycle::kill_during_outage(SandboxRecord record, EndIntention intention) {
  const bool killed = co_await kill_everywhere(std::move(record));
  if (killed) {
    // If this is lost, the reaper kills the sandbox again and books the time between as a loss.
    intention.gone_at = parts_.clock.now();
    auto noting = parts_.outage->append(std::move(intention));
    co_await attempt(std::move(noting));
  }
  co_return killed ? EndResult::ended : EndResult::stopping;
}

Task<EndResult> Lifecycle::finish_stopping(SandboxRecord stopping) {
  const auto reading = co_await last_reading(stopping);
  co_return co_await finish(std::move(stopping), reading, Try::due);
}

Task<std::optional<Time>> Lifecycle::ended_by_its_time(SandboxRecord record) {
  const Time now = parts_.clock.now();
  if (record.on_expiry != EndAction::kill || record.expires_at + kEndTolerance > now)
    co_return std::nullopt;
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt_within(kKillTimeout, std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || (*found && (*found)->state != BackendState::gone)) co_return std::nullopt;
  const std::chrono::seconds ttl(record.ttl_seconds);
  co_return std::min(now, record.expires_at + backend_ttl(ttl, deployment->descriptor) - ttl);
}

void Lifecycle::end_row(pqxx::work& tx, const SandboxId& id, std::optional<Time> gone_at) {
  const auto ended = sandbox_rows::set_ended(tx, id);
  if (!ended) return;
  if (gone_at.value_or(parts_.clock.now()) - ended->at >= kEndTolerance)
    parts_.losses->book_late_end(tx, id, ended->backend_id, gone_at);
  // No reading can come any more. Last, as budgets are locked after meters.
  if (ended->is_reserved) parts_.spend.release(tx, id, {});
}

void Lifecycle::schedule_retry(pqxx::work& tx, const SandboxRecord& stopping) {
  const auto deployment = parts_.deployments.find(stopping.tenant, stopping.deployment);
  const bool is_ours = deployment && !deployment->descriptor.machine.empty();
  if (is_ours && is_elsewhere(stopping.id.value, stopping.backend_id, deployment->descriptor))
    return sandbox_rows::make_due(tx, stopping.id);
  sandbox_rows::postpone(tx, stopping.id, is_ours ? kKillPauseHere : kKillPauseElsewhere);
}

Task<EndResult> Lifecycle::finish(SandboxRecord stopping, std::optional<Meter::Measured> reading,
                                  Try kind) {
  const SandboxId id = stopping.id;
  const auto gone_at = co_await ended_by_its_time(stopping);
  const bool killed = co_await kill_everywhere(stopping);
  auto work = [this, stopping, killed, reading, gone_at, kind](pqxx::work& tx) {
    if (reading) parts_.meter.observe(tx, stopping.id, *reading);
    if (killed) return end_row(tx, stopping.id, gone_at);
    if (reading) parts_.spend.release(tx, stopping.id, {});
    if (kind == Try::due) schedule_retry(tx, stopping);
  };
  const auto outcome = co_await attempt(parts_.database.run(std::move(work)));
  const bool ended = killed && !std::holds_alternative<Error>(outcome);
  ended ? parts_.cache.evict(id) : parts_.cache.invalidate(id);
  co_return ended ? EndResult::ended : EndResult::stopping;
}

Task<SandboxRecord> Lifecycle::settled(TenantId tenant, SandboxId id) {
  const auto limit = std::chrono::steady_clock::now() + kSettleTimeout;
  auto known = co_await get(std::move(tenant), id);
  while (is_on_its_way(known->record.state)) {
    if (std::chrono::steady_clock::now() > limit) throw wrong_state(known->record);
    known = co_await transitions_.poll(id);
    if (!known) throw unknown_sandbox(id);
  }
  co_return known->record;
}

}  // namespace sandgate
