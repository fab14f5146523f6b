#include "gateway/core/report_places.hpp"

#include <chrono>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kReportPause{1};

}  // namespace

std::shared_ptr<void> ReportPlaces::take(const std::string& whose) {
  if (whose.empty()) return nullptr;
  const std::lock_guard lock(taken_->mutex);
  size_t& count = taken_->count[whose];
  if (count >= most_) {
    Error error(ErrorCode::rate_limited, "too many reports of this tenant are under way");
    error.retry_after = kReportPause;
    throw error;
  }
  ++count;
  return std::shared_ptr<void>(taken_.get(), [taken = taken_, whose](void*) {
    const std::lock_guard over(taken->mutex);
    const auto found = taken->count.find(whose);
    if (--found->second == 0) taken->count.erase(found);
  });
}

}  // namespace sandgate
