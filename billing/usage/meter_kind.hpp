#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "gateway/core/decimal.hpp"

namespace sandgate {

// The meters of usage. The names are those of the API and the database.
enum class MeterKind {
  vcpu_second,
  memory_gib_second,
  disk_gib_second,
  egress_gib,
  sandbox_created,
  active_cpu_second,
  gpu_second,
};

inline constexpr std::array kMeterKinds{
    MeterKind::vcpu_second, MeterKind::memory_gib_second, MeterKind::disk_gib_second,
    MeterKind::egress_gib,  MeterKind::sandbox_created,   MeterKind::active_cpu_second,
    MeterKind::gpu_second,
};

std::string_view to_string(MeterKind kind);
std::optional<MeterKind> meter_kind_from(std::string_view text);

// Exact quantities from the integers that backends report.
Decimal vcpu_seconds(int64_t milli_vcpu, int64_t micros);
Decimal memory_gib_seconds(int64_t mib, int64_t micros);  // exact: 1/1024 has ten decimals
Decimal disk_gib_seconds(int64_t gib, int64_t micros);
Decimal gib(int64_t bytes);
Decimal seconds(int64_t micros);

}  // namespace sandgate
