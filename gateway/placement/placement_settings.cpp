#include "gateway/placement/placement_settings.hpp"

namespace sandgate {
namespace {

constexpr int64_t kShortestAttempt = 100, kLongestAttempt = 600'000;
constexpr int64_t kMaxCreates = 10'000;
constexpr const char* kDeadline = "attempt_deadline_ms";
constexpr const char* kPerMinute = "creates_per_minute";
constexpr const char* kAtOnce = "creates_at_once";

}  // namespace

PlacementSettings read_placement_settings(const Json& settings, Problems& problems) {
  ObjectReader reader(settings, problems, "/settings");
  PlacementSettings result;
  if (const auto deadline = reader.integer(kDeadline, kShortestAttempt, kLongestAttempt))
    result.attempt_deadline = std::chrono::milliseconds(*deadline);
  result.account = {.creates_per_minute = reader.integer(kPerMinute, 1, kMaxCreates).value_or(0),
                    .creates_at_once = reader.integer(kAtOnce, 1, kMaxCreates).value_or(0)};
  return result;
}

Json backend_settings(Json settings) {
  for (const char* name : {kDeadline, kPerMinute, kAtOnce}) settings.erase(name);
  return settings;
}

}  // namespace sandgate
