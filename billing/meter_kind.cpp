#include "billing/meter_kind.hpp"

namespace sandgate {
namespace {

using Integer = Decimal::Integer;

// 1/1024 is 5^10 / 10^10.
constexpr int64_t kFiveToTheTenth = 9'765'625;

}  // namespace

std::string_view to_string(MeterKind kind) {
  switch (kind) {
    case MeterKind::vcpu_second:
      return "vcpu_second";
    case MeterKind::memory_gib_second:
      return "memory_gib_second";
    case MeterKind::disk_gib_second:
      return "disk_gib_second";
    case MeterKind::egress_gib:
      return "egress_gib";
    case MeterKind::sandbox_created:
      return "sandbox_created";
    case MeterKind::active_cpu_second:
      return "active_cpu_second";
    case MeterKind::gpu_second:
      return "gpu_second";
  }
  return "";
}

std::optional<MeterKind> meter_kind_from(std::string_view text) {
  for (const MeterKind kind : kMeterKinds)
    if (to_string(kind) == text) return kind;
  return std::nullopt;
}

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
