#pragma once
#include <chrono>

#include "gateway/core/json_reader.hpp"
#include "gateway/placement/account.hpp"

namespace sandgate {

// The settings of a deployment that are placement's own, whatever its kind: attempt_deadline_ms
// (100..600000), creates_per_minute and creates_at_once (1..10000; absent: no limit).
struct PlacementSettings {
  std::chrono::milliseconds attempt_deadline{10'000};
  AccountLimits account;
};

// Adds what is wrong, with paths under /settings.
PlacementSettings read_placement_settings(const Json& settings, Problems& problems);
// The rest, for the kind of backend.
Json backend_settings(Json settings);

}  // namespace sandgate
