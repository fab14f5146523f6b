#include "gateway/sandboxes/ending/end_booking.hpp"

#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {

void end_charge(const LifecycleParts& parts, pqxx::work& tx, const SandboxId& id,
                std::optional<Time> at, const std::optional<Meter::Measured>& counters) {
  const Money uncounted = parts.meter.close(tx, id, at, counters);
  parts.spend.release(tx, id, uncounted);
}

void end_row(const LifecycleParts& parts, pqxx::work& tx, const SandboxId& id,
             std::optional<Time> gone_at) {
  const auto ended = sandbox_rows::set_ended(tx, id);
  if (!ended) return;
  if (gone_at.value_or(parts.clock.now()) - ended->at >= kEndTolerance)
    parts.losses->book_late_end(tx, id, ended->backend_id, gone_at);
  // No reading can come any more. Last, as budgets are locked after meters.
  if (ended->is_reserved) parts.spend.release(tx, id, {});
}

}  // namespace sandgate
