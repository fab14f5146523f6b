#include "billing/run_cost.hpp"

#include "billing/rating.hpp"

namespace sandgate {

std::optional<Money> cost_of_run(const PriceSnapshot& prices, const PriceScope& scope,
                                 const Resources& size, Time at, std::chrono::microseconds ran) {
  const int64_t micros = ran.count();
  const std::pair<MeterKind, Decimal> used[] = {
      {MeterKind::sandbox_created, Decimal(1)},
      {MeterKind::vcpu_second, vcpu_seconds(size.milli_vcpu, micros)},
      {MeterKind::memory_gib_second, memory_gib_seconds(size.memory_mib, micros)},
      {MeterKind::disk_gib_second, disk_gib_seconds(size.disk_gib, micros)},
      {MeterKind::active_cpu_second, vcpu_seconds(size.milli_vcpu, micros)}};
  std::optional<Money> total;
  for (const auto& [meter, quantity] : used) {
    const auto price = prices.cost(scope, meter, at);
    if (!price) continue;
    if (!total) total = Money{Decimal(), std::string(price->currency)};
    if (total->currency == price->currency)
      total->amount += price_of(price->entry->terms, Decimal(), quantity);
  }
  return total;
}

}  // namespace sandgate
