#include "billing/usage/meter_kind.hpp"

#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

using Integer = Decimal::Integer;

// 1/1024 is 5^10 / 10^10.
constexpr int64_t kFiveToTheTenth = 9'765'625;

constexpr Words kMeterWords({Word{MeterKind::vcpu_second, "vcpu_second"},
                             Word{MeterKind::memory_gib_second, "memory_gib_second"},
                             Word{MeterKind::disk_gib_second, "disk_gib_second"},
                             Word{MeterKind::egress_gib, "egress_gib"},
                             Word{MeterKind::sandbox_created, "sandbox_created"},
                             Word{MeterKind::active_cpu_second, "active_cpu_second"},
                             Word{MeterKind::gpu_second, "gpu_second"}});
static_assert(kMeterWords.all().size() == kMeterKinds.size());

}  // namespace

std::string_view to_string(MeterKind kind) { return kMeterWords.of(kind); }
std::optional<MeterKind> meter_kind_from(std::string_view text) { return kMeterWords.find(text); }

Decimal vcpu_seconds(int64_t milli_vcpu, int64_t micros) {
  return Decimal(Integer(milli_vcpu) * micros, 9);
}

Decimal memory_gib_seconds(int64_t mib, int64_t micros) {
  return Decimal(Integer(mib) * micros * kFiveToTheTenth, 16);
}

Decimal disk_gib_seconds(int64_t gib, int64_t micros) { return Decimal(Integer(gib) * micros, 6); }

Decimal gib(int64_t bytes) {
  return Decimal(Integer(bytes) * kFiveToTheTenth * kFiveToTheTenth * kFiveToTheTenth, 30);
}

Decimal seconds(int64_t micros) { return Decimal(Integer(micros), 6); }

}  // namespace sandgate
