#include "gateway/sandboxes/failure_translation.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kAskTimeout{10};

// A conflict that does not name the state that causes it.
bool is_stateless(const Error& error) {
  return error.code == ErrorCode::conflict && !error.details.contains("state");
}

// Whether it is worth asking the backend if the sandbox is there after a failure that its end would
// explain. A machine of ours notices a death a moment after connections break; others know at once,
// and are not asked where requests are counted.
bool may_know_of_end(const Descriptor& backend, bool is_first_look) {
  return backend.reports_final_usage || (is_first_look && backend.min_list_interval.count() == 0);
}

// Asks the backend, so that the row tells of an end before the sweep.
Task<void> check_for_end(Lifecycle& lifecycle, TenantId tenant, SandboxId id, bool is_first_look) {
  const LifecycleParts& parts = lifecycle.parts();
  auto getting = lifecycle.get(tenant, id);
  const auto found = co_await attempt(std::move(getting));
  const auto* known = std::get_if<CachedSandboxPtr>(&found);
  if (!known) co_return;
  const SandboxRecord& record = (*known)->record;
  const auto deployment = parts.deployments.find(record.tenant, record.deployment);
  if (!deployment || !may_know_of_end(deployment->descriptor, is_first_look)) co_return;
  auto asking = lifecycle.refresh(std::move(tenant), std::move(id));
  co_await attempt_within(kAskTimeout, std::move(asking));
}

// The row, as `stopped` when this process knows of its end. Empty: not found or unknown.
Task<std::optional<SandboxRecord>> as_known(Lifecycle& lifecycle, TenantId tenant, SandboxId id) {
  const LifecycleParts& parts = lifecycle.parts();
  if (parts.outage && parts.outage->has(tenant, id)) {
    const auto seen = parts.cache.last_seen(id);
    SandboxRecord record = seen ? seen->record : SandboxRecord();
    record.ended_reason = parts.outage->reason_of(id).value_or("");
    record.state = record.ended_reason == "failed" ? SandboxState::failed : SandboxState::stopped;
    co_return record;
  }
  // Before reading the row, which shows an end that is over by then.
  const auto reason = lifecycle.reason_of_end_here(id);
  auto getting = lifecycle.get(std::move(tenant), std::move(id));
  const auto found = co_await attempt(std::move(getting));
  const auto* known = std::get_if<CachedSandboxPtr>(&found);
  if (!known) co_return std::nullopt;
  SandboxRecord record = (*known)->record;
  if (reason && !is_ending(record.state)) {
    record.state = SandboxState::stopped;
    record.ended_reason = *reason;
  }
  co_return record;
}

// A conflict when the sandbox has ended and that may explain the failure; else the failure.
Task<Error> translate_if_ended(Lifecycle& lifecycle, TenantId tenant, SandboxId id, Error failure) {
  const bool may_be_its_end = failure.code == ErrorCode::not_found ||
                              failure.code == ErrorCode::unavailable || is_stateless(failure);
  if (!may_be_its_end) co_return failure;
  auto reading = as_known(lifecycle, std::move(tenant), std::move(id));
  const auto known = co_await std::move(reading);
  if (known && is_ending(known->state)) co_return wrong_state(*known);
  co_return failure;
}

}  // namespace

Task<Error> translate_failure(Lifecycle& lifecycle, TenantId tenant, SandboxId id, Error failure) {
  // No file or process is missing, but all of the sandbox, which is there as far as anybody knows.
  if (is_agent_missing(failure)) failure = Error(ErrorCode::unavailable, failure.what());
  const bool broke = failure.code == ErrorCode::unavailable;
  if (!broke && failure.code != ErrorCode::not_found) {
    // Another gateway says "conflict" of a sandbox that ended there.
    if (is_stateless(failure) && !failure.provider.empty())
      co_await check_for_end(lifecycle, tenant, id, /*is_first_look=*/true);
    auto translating =
        translate_if_ended(lifecycle, std::move(tenant), std::move(id), std::move(failure));
    co_return co_await std::move(translating);
  }
  const int all_looks = broke ? kEndLooks : 1;
  for (int looks = all_looks; looks > 0; --looks) {
    co_await check_for_end(lifecycle, tenant, id, looks == all_looks);
    auto reading = as_known(lifecycle, tenant, id);
    const auto known = co_await std::move(reading);
    if (!known) co_return failure;
    if (known->state != SandboxState::running) co_return wrong_state(*known);
    if (looks > 1) co_await sleep_for(kEndLookPause);
  }
  co_return failure;
}

Task<Error> translate_refusal(Lifecycle& lifecycle, TenantId tenant, SandboxId id, Error failure) {
  if (failure.code == ErrorCode::not_found) co_await lifecycle.wait_for_end_here(id);
  // Another replica may be ending the sandbox and not have written that yet.
  for (int looks = failure.code == ErrorCode::not_found ? kEndLooks : 0; looks > 0; --looks) {
    auto looking = lifecycle.refresh(tenant, id);
    const auto found = co_await attempt(std::move(looking));
    const auto* known = std::get_if<CachedSandboxPtr>(&found);
    if (!known || is_ending((*known)->record.state)) break;
    co_await sleep_for(kEndLookPause);
  }
  auto translating = translate_if_ended(lifecycle, tenant, id, std::move(failure));
  Error told = co_await std::move(translating);
  if (!is_stateless(told)) co_return told;
  auto reading = as_known(lifecycle, std::move(tenant), std::move(id));
  const auto known = co_await std::move(reading);
  if (known) told.details["state"] = to_string(known->state);
  co_return told;
}

}  // namespace sandgate
