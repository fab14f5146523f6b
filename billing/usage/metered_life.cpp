#include "billing/usage/metered_life.hpp"

namespace sandgate {
namespace {

// Adds `quantity` of a meter to the running total, as one event.
void count(std::vector<UsageEvent>& events, const MeteredLife& life, const PriceSnapshot& prices,
           Interval interval, MeterKind meter, Decimal quantity, Decimal& total) {
  if (quantity.is_zero()) return;
  Rated rated = rate(prices, life.scope(), meter, interval.from, total, quantity);
  events.push_back({.sandbox = life.id,
                    .tenant = life.tenant,
                    .meter = meter,
                    .interval = interval,
                    .quantity = quantity,
                    .before = total,
                    .rated = std::move(rated)});
  total += quantity;
}

UsageEvent creation_of(const MeteredLife& life, const PriceSnapshot& prices) {
  UsageEvent created{.sandbox = life.id,
                     .tenant = life.tenant,
                     .meter = MeterKind::sandbox_created,
                     .interval = {life.opened_at, life.opened_at},
                     .quantity = Decimal(1)};
  created.rated =
      rate(prices, life.scope(), created.meter, life.opened_at, created.before, created.quantity);
  return created;
}

}  // namespace

Resources MeteredLife::charged() const {
  Resources size = resources;
  if (state != MeterState::running) size.milli_vcpu = 0;
  if (state == MeterState::paused_disk) size.memory_mib = 0;
  return size;
}

std::vector<UsageEvent> book(MeteredLife& life, Time until, const PriceSnapshot& prices,
                             size_t max_pieces) {
  std::vector<UsageEvent> events;
  if (!life.closed && life.boundary == life.opened_at) events.push_back(creation_of(life, prices));
  const Interval stretch{life.boundary, std::min(until, life.ends_at.value_or(until))};
  const auto moments = prices.changes(stretch.from, stretch.to);
  for (const Interval& piece : split_interval(stretch, moments, max_pieces)) {
    const int64_t micros = (piece.to - piece.from).count();
    if (life.state == MeterState::running)
      count(events, life, prices, piece, MeterKind::vcpu_second,
            vcpu_seconds(life.resources.milli_vcpu, micros), life.vcpu_total);
    if (life.state != MeterState::paused_disk)
      count(events, life, prices, piece, MeterKind::memory_gib_second,
            memory_gib_seconds(life.resources.memory_mib, micros), life.memory_total);
    count(events, life, prices, piece, MeterKind::disk_gib_second,
          disk_gib_seconds(life.resources.disk_gib, micros), life.disk_total);
    life.boundary = piece.to;
  }
  return events;
}

}  // namespace sandgate
