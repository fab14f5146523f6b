#include "gateway/sandboxes/extending.hpp"

#include <algorithm>

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "providers/fixed_end.hpp"

namespace sandgate {
namespace {

constexpr int kExtendTries = 3;  // the sandbox may be paused and resumed concurrently

// Throws Error(invalid) if the backend ends the sandbox before `end` and cannot move that. A
// sandbox that waits paused is not checked: it gets its TTL anew when it runs again.
void check_life(const SandboxRecord& record, const Descriptor& descriptor, Time end) {
  if (descriptor.fixed_lifetime.count() == 0 || waits_paused(record)) return;
  const Time last = std::max(record.created_at + descriptor.fixed_lifetime, record.expires_at);
  if (end > last) throw beyond_end(last);
}

}  // namespace

void Extending::check_ttl(const SandboxRecord& record, int64_t ttl_seconds) const {
  const auto refuse_above = [ttl_seconds](int64_t most, const std::string& why) {
    if (ttl_seconds > most)
      throw Error::invalid("/ttl_seconds", "may be at most " + std::to_string(most) + why);
  };
  refuse_above(record.max_ttl_seconds, " by the sandbox's profile");
  const bool is_to_pause = record.on_expiry == EndAction::pause && !record.kill_once_resumed;
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment || !is_to_pause) return;
  const int64_t longest = longest_ttl(deployment->descriptor, EndAction::pause);
  if (longest > 0) refuse_above(longest, ", for its backend not to end it before it is paused");
}

Task<SandboxRecord> Extending::extend(TenantId tenant, SandboxId id, int64_t ttl_seconds) {
  for (int tries = kExtendTries;; --tries) {
    const SandboxRecord record = co_await lifecycle_.settled(tenant, id);
    const bool can_be =
        record.state == SandboxState::running || record.state == SandboxState::paused;
    if (!can_be) throw wrong_state(record);
    if (tries == 0) throw is_being_changed();
    check_ttl(record, ttl_seconds);
    const auto extended = co_await extend_settled(record, ttl_seconds);
    if (extended) co_return *extended;
  }
}

Task<void> Extending::extend_at_backend(SandboxRecord record, int64_t ttl_seconds) {
  const auto deployment = lifecycle_.deployment_of(record);
  const bool waits = waits_paused(record);
  const std::chrono::seconds least(ttl_seconds);
  check_life(record, deployment->descriptor, parts_.clock.now() + least);
  auto ttl = waits ? kPausedTtl : backend_ttl(least, deployment->descriptor);
  for (;; ttl = least) {
    auto extending = deployment->backend->extend(record.backend_id, ttl);
    const auto outcome = co_await attempt(std::move(extending));
    const Error* refusal = std::get_if<Error>(&outcome);
    // The long TTL is our choice, not the caller's, so its refusal is no error. The backend refused
    // it at the pause, too.
    if (!refusal || (waits && refusal->code == ErrorCode::invalid)) co_return;
    // So is the time that we add: ask again without it.
    if (refusal->code == ErrorCode::invalid && ttl > least) continue;
    auto translating = translate_refusal(lifecycle_, record.tenant, record.id, *refusal);
    Error told = co_await std::move(translating);
    // That code tells of deployments for a create; here only one counts.
    if (told.code == ErrorCode::no_capacity) told.code = ErrorCode::unavailable;
    throw told;
  }
}

Task<std::optional<SandboxRecord>> Extending::extend_settled(SandboxRecord record,
                                                             int64_t ttl_seconds) {
  const SandboxId id = record.id;
  // A backend's timer that is longer than the row's TTL is harmless, a shorter one is not. So it is
  // only ever lengthened, and before the row.
  const bool longer = parts_.clock.now() + std::chrono::seconds(ttl_seconds) > record.expires_at;
  if (longer) {
    auto lengthening = extend_at_backend(record, ttl_seconds);
    co_await std::move(lengthening);
  }
  const auto mark = parts_.cache.mark_of(id);
  auto work = [this, id, ttl_seconds](pqxx::work& tx) {
    auto changed = sandbox_rows::set_expiry(tx, id, ttl_seconds);
    // The cost of waiting paused is reserved already.
    if (changed && !waits_paused(changed->record)) parts_.spend.extend(tx, changed->record);
    return changed;
  };
  auto writing = parts_.database.run(std::move(work));
  const auto extended = co_await std::move(writing);
  if (!extended) {
    parts_.cache.invalidate(id);
    co_return std::nullopt;
  }
  parts_.cache.store(extended->record, mark);
  // The backend may have heard of another extend after this one, which the row has before it; and
  // of a pause or resume before it, which has a time of its own.
  const bool met_another =
      extended->before != record.expires_at || extended->record.state != record.state;
  if (longer && met_another) {
    auto again = extend_at_backend(extended->record, ttl_seconds);
    co_await attempt(std::move(again));
  }
  co_return extended->record;
}

}  // namespace sandgate
