#pragma once
#include <chrono>

#include "gateway/core/json_reader.hpp"
#include "gateway/placement/account.hpp"

namespace sandgate {

// A deployment's settings for placement, common to all kinds: attempt_deadline_ms (100..600000),
// creates_per_minute and creates_at_once (1..10000; absent: unlimited).
struct PlacementSettings {
  std::chrono::milliseconds attempt_deadline{10'000};
  AccountLimits account;
};

// Adds problems, with paths under /settings.
PlacementSettings read_placement_settings(const Json& settings, Problems& problems);
// The settings without placement's own, for the backend.
Json backend_settings(Json settings);

}  // namespace sandgate
