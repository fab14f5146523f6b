#include "billing/prices/run_cost.hpp"

#include "billing/prices/rating.hpp"

namespace sandgate {

RunQuantities used_by(const Resources& size, std::chrono::microseconds ran) {
  using Use = RunQuantities::value_type;
  const int64_t micros = ran.count();
  return {Use{MeterKind::sandbox_created, Decimal(1)},
          Use{MeterKind::vcpu_second, vcpu_seconds(size.milli_vcpu, micros)},
          Use{MeterKind::memory_gib_second, memory_gib_seconds(size.memory_mib, micros)},
          Use{MeterKind::disk_gib_second, disk_gib_seconds(size.disk_gib, micros)},
          Use{MeterKind::active_cpu_second, vcpu_seconds(size.milli_vcpu, micros)}};
}

std::optional<Money> charge_of_run(const PriceSnapshot& prices, const PriceScope& scope,
                                   const Resources& size, Time at, std::chrono::microseconds ran) {
  auto total = charge_per_hour(prices, scope, size, at);
  if (!total) return total;
  total->amount = Decimal();
  for (const auto& [meter, quantity] : used_by(size, ran)) {
    const Money part = rate(prices, scope, meter, at, Decimal(), quantity).charge;
    if (part.currency == total->currency) total->amount += part.amount;
  }
  return total;
}

}  // namespace sandgate
