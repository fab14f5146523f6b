#include "gateway/sandboxes/lifecycle.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/creating/creation.hpp"
#include "gateway/sandboxes/uncancelled.hpp"

namespace sandgate {
namespace {

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
