#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/ending/backend_end.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/elsewhere.hpp"

// What becomes of a sandbox that is gone from its backend: its end was asked for, or it is lost.
namespace sandgate {
namespace {

constexpr std::chrono::seconds kYoung{60}, kLag{3};
constexpr std::chrono::milliseconds kLagPause{300};

// Reads of a vendor may lag behind a create (0135), so a young sandbox is asked for again.
Task<std::optional<BackendSandbox>> find_there(const LifecycleParts& parts,
                                               const Deployment& deployment,
                                               const SandboxRecord& record) {
  const bool may_lag =
      !deployment.descriptor.reports_final_usage && parts.clock.now() < record.created_at + kYoung;
  const auto until = std::chrono::steady_clock::now() + (may_lag ? kLag : std::chrono::seconds(0));
  for (;;) {
    auto found = co_await deployment.backend->find(record.backend_id);
    if (found || std::chrono::steady_clock::now() >= until) co_return found;
    co_await sleep_for(kLagPause);
  }
}

Task<std::optional<SandboxRecord>> row_or_last_seen(const LifecycleParts& parts, SandboxId id) {
  auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  auto reading = parts.database.run(std::move(read));
  const auto row = co_await attempt(std::move(reading));
  if (const auto* found = std::get_if<std::optional<SandboxRecord>>(&row)) co_return *found;
  const auto seen = parts.cache.last_seen(id);
  co_return seen ? std::optional(seen->record) : std::nullopt;
}

}  // namespace

Task<Lifecycle::Seen> Lifecycle::look_at(TenantId tenant, SandboxId id) {
  auto known = co_await get(tenant, id);
  const SandboxRecord& record = known->record;
  if (record.state != SandboxState::running && record.state != SandboxState::paused)
    co_return Seen{known, std::nullopt};
  const auto deployment = deployment_of(record);
  // The gateway of that machine notes what is gone.
  if (is_elsewhere(id.value, record.backend_id, deployment->descriptor))
    co_return Seen{known, std::nullopt};
  const auto there = co_await find_there(parts_, *deployment, record);
  if (there && there->state != BackendState::gone) co_return Seen{known, there->state};
  co_await note_gone(id, "the backend does not know it any more");
  known = co_await get(tenant, id);
  co_return Seen{known, std::nullopt};
}

Task<CachedSandboxPtr> Lifecycle::refresh(TenantId tenant, SandboxId id) {
  auto looking = look_at(std::move(tenant), std::move(id));
  const Seen seen = co_await std::move(looking);
  co_return seen.known;
}

Task<void> Lifecycle::note_gone(SandboxId id, std::string detail) {
  co_await backend_first_ends_.wait_until_over(id);
  // The end that is under way or in the journal books the requested time.
  if (backend_first_ends_.has(id) || (parts_.outage && parts_.outage->has(id))) co_return;
  auto noting = note_end(id, std::move(detail));
  auto lost = co_await std::move(noting);
  parts_.cache.invalidate(id);
  if (lost) co_await note_lost(parts_, std::move(*lost));
}

Task<std::optional<LostSandbox>> Lifecycle::note_end(SandboxId id, std::string detail) {
  std::optional<KnownEnd> end;
  for (int looks = kEndLooks;; --looks) {
    auto reading = row_or_last_seen(parts_, id);
    const auto record = co_await std::move(reading);
    if (!record) co_return LostSandbox{id, std::move(detail), std::nullopt};
    if (is_ending(record->state)) co_return std::nullopt;
    if (!end) {
      auto asking = ask_for_end(parts_, *record);
      end = co_await std::move(asking);
    }
    if (!end) co_return LostSandbox{id, std::move(detail), std::nullopt};
    if (end->is_lost) co_return LostSandbox{id, std::move(detail), end->counted};
    if (looks == 0) {
      co_await write_end(*record, end->counted.sampled_at, end->counted, nullptr, end->reason);
      co_return std::nullopt;
    }
    // Whoever ended it knows the requested time and is about to write it, unless it crashed.
    co_await sleep_for(kEndLookPause);
  }
}

}  // namespace sandgate
