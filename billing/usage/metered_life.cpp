#include "billing/usage/metered_life.hpp"

namespace sandgate {

Resources MeteredLife::charged() const {
  Resources size = resources;
  if (state != MeterState::running) size.milli_vcpu = 0;
  if (state == MeterState::paused_disk) size.memory_mib = 0;
  return size;
}

UsageEvent MeteredLife::use(const PriceSnapshot& prices, MeterKind meter, Interval interval,
                            const Decimal& quantity, Decimal& total) const {
  UsageEvent event{.sandbox = id,
                   .tenant = tenant,
                   .meter = meter,
                   .interval = interval,
                   .quantity = quantity,
                   .before = total,
                   .rated = rate(prices, scope(), meter, interval.from, total, quantity)};
  total += quantity;
  return event;
}

std::vector<UsageEvent> book(MeteredLife& life, Time until, const PriceSnapshot& prices,
                             size_t max_pieces) {
  std::vector<UsageEvent> events;
  if (!life.closed && life.boundary == life.opened_at) {
    Decimal none;
    events.push_back(life.use(prices, MeterKind::sandbox_created, {life.opened_at, life.opened_at},
                              Decimal(1), none));
  }
  const Interval stretch{life.boundary, std::min(until, life.ends_at.value_or(until))};
  const auto moments = prices.changes(stretch.from, stretch.to);
  for (const Interval& piece : split_interval(stretch, moments, max_pieces)) {
    const int64_t micros = (piece.to - piece.from).count();
    const auto count = [&](MeterKind meter, const Decimal& quantity, Decimal& total) {
      if (!quantity.is_zero()) events.push_back(life.use(prices, meter, piece, quantity, total));
    };
    if (life.state == MeterState::running)
      count(MeterKind::vcpu_second, vcpu_seconds(life.resources.milli_vcpu, micros),
            life.vcpu_total);
    if (life.state != MeterState::paused_disk)
      count(MeterKind::memory_gib_second, memory_gib_seconds(life.resources.memory_mib, micros),
            life.memory_total);
    count(MeterKind::disk_gib_second, disk_gib_seconds(life.resources.disk_gib, micros),
          life.disk_total);
    life.boundary = piece.to;
  }
  return events;
}

}  // namespace sandgate
