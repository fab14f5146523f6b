#include "gateway/sandboxes/ending/lost_sandbox.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {

Task<void> note_lost(const LifecycleParts& parts, LostSandbox lost) {
  const sandbox_rows::Stop stop{.reason = "failed",
                                .failure = SandboxFailure{"backend_lost", std::move(lost.detail)},
                                .placed_only = true};
  const SandboxId id = lost.id;
  const auto death = lost.death;
  const Time at = death ? death->sampled_at : parts.clock.now();
  auto work = [&parts, id, stop, at, death](pqxx::work& tx) {
    const auto stopping = sandbox_rows::set_stopping(tx, id, stop);
    if (!stopping) return;
    // A sandbox whose TTL ended before its loss was noticed existed no longer than that.
    const bool over = stopping->on_expiry == EndAction::kill && stopping->expires_at < at;
    end_charge(parts, tx, id, over ? stopping->expires_at : at, death);
    const auto ended = sandbox_rows::set_ended(tx, id);
    if (ended && ended->is_reserved) parts.spend.release(tx, id, {});
  };
  auto writing = parts.database.run(std::move(work));
  const auto outcome = co_await attempt(std::move(writing));
  if (const Error* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::unavailable || !parts.outage) throw *error;
    const auto known = parts.cache.last_seen(id);
    if (!known) throw *error;
    EndIntention intention{known->record.tenant, id, at, stop.reason, stop.failure, death, at};
    co_await parts.outage->append(std::move(intention));
  }
  parts.cache.invalidate(id);
}

Task<void> note_lost_with_machine(const LifecycleParts& parts, SandboxId id, Time seen) {
  // The end in the journal has the requested time.
  if (parts.outage && parts.outage->has(id)) co_return;
  LostSandbox lost{id, "its machine was last seen at " + to_rfc3339(seen),
                   Meter::Measured{{}, {}, seen}};
  co_await note_lost(parts, std::move(lost));
  // Of one that was ending already only the row is left.
  auto work = [&parts, id, seen](pqxx::work& tx) { end_row(parts, tx, id, seen); };
  co_await parts.database.run(std::move(work));
  parts.cache.invalidate(id);
}

}  // namespace sandgate
