#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/elsewhere.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/measured_end.hpp"

// What becomes of a sandbox that is gone from its backend: a requested end, or a loss.
namespace sandgate {
namespace {

constexpr std::chrono::seconds kFindTimeout{5};

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
  const auto there = co_await deployment->backend->find(record.backend_id);
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
  auto loss = co_await std::move(noting);
  parts_.cache.invalidate(id);
  if (loss) co_await note_loss(std::move(id), std::move(*loss));
}

Task<std::optional<SandboxRecord>> Lifecycle::row_or_last_seen(SandboxId id) {
  auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id); };
  auto reading = parts_.database.run(std::move(read));
  const auto row = co_await attempt(std::move(reading));
  if (const auto* found = std::get_if<std::optional<SandboxRecord>>(&row)) co_return *found;
  const auto seen = parts_.cache.last_seen(id);
  co_return seen ? std::optional(seen->record) : std::nullopt;
}

std::optional<Lifecycle::KnownEnd> Lifecycle::end_told_by(const BackendSandbox& gone,
                                                          const SandboxRecord& record) const {
  const Time now = parts_.clock.now();
  if (gone.counted) return KnownEnd{measured_end(*gone.counted, now), gone.died, kKilled};
  if (!gone.ended) return std::nullopt;
  // The backend's clock may differ from ours.
  const Time at = std::min(now, std::max(record.created_at, gone.ended->at.value_or(now)));
  const EndAction wanted = gone.ended->idle ? record.on_idle : record.on_expiry;
  return KnownEnd{{.sampled_at = at},
                  wanted == EndAction::pause,
                  gone.ended->idle ? std::string_view("idle") : std::string_view("expired")};
}

Task<std::optional<Lifecycle::KnownEnd>> Lifecycle::known_end(SandboxRecord record) {
  const auto deployment = parts_.deployments.find(record.tenant, record.deployment);
  if (!deployment || record.backend_id.empty()) co_return std::nullopt;
  const Descriptor& descriptor = deployment->descriptor;
  if (!descriptor.reports_final_usage && !descriptor.tells_ends) co_return std::nullopt;
  auto finding = deployment->backend->find(record.backend_id);
  const auto outcome = co_await attempt_within(kFindTimeout, std::move(finding));
  const auto* found = std::get_if<std::optional<BackendSandbox>>(&outcome);
  if (!found || !*found) co_return std::nullopt;
  co_return end_told_by(**found, record);
}

Task<std::optional<Lifecycle::Loss>> Lifecycle::note_end(SandboxId id, std::string detail) {
  std::optional<KnownEnd> end;
  for (int looks = kEndLooks;; --looks) {
    auto reading = row_or_last_seen(id);
    const auto record = co_await std::move(reading);
    if (!record) co_return Loss{std::move(detail), std::nullopt};
    if (is_ending(record->state)) co_return std::nullopt;
    if (!end) {
      auto asking = known_end(*record);
      end = co_await std::move(asking);
    }
    if (!end) co_return Loss{std::move(detail), std::nullopt};
    if (end->is_loss) co_return Loss{std::move(detail), end->counted};
    if (looks == 0) {
      co_await write_end(*record, end->counted.sampled_at, end->counted, nullptr, end->reason);
      co_return std::nullopt;
    }
    // Whoever ended it knows the requested time and is about to write it, unless it crashed.
    co_await sleep_for(kEndLookPause);
  }
}

Task<void> Lifecycle::note_loss(SandboxId id, Loss loss) {
  const sandbox_rows::Stop lost{.reason = "failed",
                                .failure = SandboxFailure{"backend_lost", std::move(loss.detail)},
                                .placed_only = true};
  const auto death = loss.death;
  const Time at = death ? death->sampled_at : parts_.clock.now();
  auto work = [this, id, lost, at, death](pqxx::work& tx) {
    const auto stopping = sandbox_rows::set_stopping(tx, id, lost);
    if (!stopping) return;
    // A sandbox whose TTL ended before its loss was noticed existed no longer than that.
    const bool over = stopping->on_expiry == EndAction::kill && stopping->expires_at < at;
    end_charge(tx, id, over ? stopping->expires_at : at, death);
    const auto ended = sandbox_rows::set_ended(tx, id);
    if (ended && ended->is_reserved) parts_.spend.release(tx, id, {});
  };
  auto writing = parts_.database.run(std::move(work));
  const auto outcome = co_await attempt(std::move(writing));
  if (const Error* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::unavailable || !parts_.outage) throw *error;
    const auto known = parts_.cache.last_seen(id);
    if (!known) throw *error;
    EndIntention intention{known->record.tenant, id, at, lost.reason, lost.failure, death, at};
    co_await parts_.outage->append(std::move(intention));
  }
  parts_.cache.invalidate(id);
}

Task<void> Lifecycle::note_lost_machine(SandboxId id, Time seen) {
  // The end in the journal has the requested time.
  if (parts_.outage && parts_.outage->has(id)) co_return;
  Loss loss{"its machine was last seen at " + to_rfc3339(seen), Meter::Measured{{}, {}, seen}};
  co_await note_loss(id, std::move(loss));
  // Of one that was ending already only the row is left.
  auto work = [this, id, seen](pqxx::work& tx) { end_row(tx, id, seen); };
  co_await parts_.database.run(std::move(work));
  parts_.cache.invalidate(id);
}

}  // namespace sandgate
