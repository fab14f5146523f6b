#include "gateway/sandboxes/cached_access.hpp"

#include "gateway/http/permission.hpp"
#include "gateway/sandboxes/failure_translation.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kWakeTimeout{25};
constexpr std::chrono::milliseconds kWakeAgain{20};

// Resuming costs money, so it takes the permission to use the sandbox, not only to view it.
bool may_wake(const http::Caller& caller) {
  return !caller.suspended && http::allows(caller.role, http::Permission::use_sandboxes);
}

bool waits_for_use(const SandboxRecord& record) {
  return record.auto_resume &&
         (record.state == SandboxState::pausing || record.state == SandboxState::paused ||
          record.state == SandboxState::resuming);
}

// Whether a resume failed because others pause and resume the sandbox, not because it was refused.
bool met_a_pause(const Error& failure) {
  if (failure.code != ErrorCode::conflict) return false;
  const auto state = failure.details.find("state");
  if (state == failure.details.end()) return failure.retry_after.has_value();
  return *state == "pausing" || *state == "resuming";
}

}  // namespace

std::shared_ptr<void> CachedAccess::use(const SandboxRecord& record) {
  if (is_ended(record.state)) return nullptr;
  return activity_->use(record.id, std::chrono::seconds(record.idle_timeout_seconds));
}

CachedSandboxPtr CachedAccess::known_awake(const TenantId& tenant, const SandboxId& id) {
  if (lifecycle_.transitions().is_marked(id)) return nullptr;
  auto known = lifecycle_.peek(tenant, id);
  return known && !waits_for_use(known->record) ? known : nullptr;
}

Task<CachedSandboxPtr> CachedAccess::awake(const http::Caller& caller, SandboxId id) {
  const auto limit = std::chrono::steady_clock::now() + kWakeTimeout;
  for (;;) {
    co_await lifecycle_.transitions().wait_until_unmarked(id);
    auto known = co_await lifecycle_.get(*caller.tenant, id);
    if (!waits_for_use(known->record) || !may_wake(caller)) co_return known;
    if (std::chrono::steady_clock::now() > limit) throw is_being_changed();
    auto resuming = pausing_.resume(*caller.tenant, id);
    const auto outcome = co_await attempt(std::move(resuming));
    const auto* failure = std::get_if<Error>(&outcome);
    if (!failure) continue;
    if (!met_a_pause(*failure)) throw *failure;
    // Some refusals come at once, and each try is a transaction.
    co_await sleep_for(kWakeAgain);
  }
}

Task<OpenSandbox> CachedAccess::open(const http::Caller& caller, std::string_view id, Verb verb) {
  http::require_tenant(caller);
  const auto parsed = SandboxId::parse(id);
  if (!parsed || (caller.sandbox && caller.sandbox != parsed))
    throw Error::not_found("sandbox", id);
  if (verb == Verb::exec) http::require_not_suspended(caller);
  const TenantId& tenant = *caller.tenant;
  auto known = lifecycle_.peek(tenant, *parsed);
  if (!known) known = co_await lifecycle_.get(tenant, *parsed);
  // Mark use before reading the state: a pause for idleness writes the state before it looks for
  // marks, so at least one side sees the other.
  auto activity = use(known->record);
  known = known_awake(tenant, *parsed);
  if (!known) known = co_await awake(caller, *parsed);
  const SandboxRecord& record = known->record;
  check_running(record);
  const auto deployment = lifecycle_.deployment_of(record);
  check_can(deployment->descriptor, verb,
            "the sandbox's backend cannot do this: " + std::string(to_string(verb)));
  co_return OpenSandbox{.access = this,
                        .id = record.id,
                        .tenant = record.tenant,
                        .provider = deployment->backend,
                        .backend_id = record.backend_id,
                        .activity = std::move(activity),
                        .can_pause = deployment->descriptor.can(Verb::pause)};
}

Task<Error> CachedAccess::translate_failure(TenantId tenant, SandboxId id, Error failure) {
  return sandgate::translate_failure(lifecycle_, std::move(tenant), std::move(id),
                                     std::move(failure));
}

Task<bool> CachedAccess::is_paused(TenantId tenant, SandboxId id) {
  auto known = lifecycle_.peek(tenant, id);
  if (!known) {
    // Those who wait for the same sandbox share the read.
    auto looking = lifecycle_.transitions().poll(std::move(id));
    auto outcome = co_await attempt(std::move(looking));
    if (auto* found = std::get_if<CachedSandboxPtr>(&outcome)) known = std::move(*found);
  }
  co_return known && known->record.state == SandboxState::paused;
}

Task<void> CachedAccess::report_gone(SandboxId id, std::string detail) {
  return lifecycle_.note_gone(std::move(id), std::move(detail));
}

}  // namespace sandgate
