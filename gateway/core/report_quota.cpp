#include "gateway/core/report_quota.hpp"

#include <chrono>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxPending = 8;
constexpr std::chrono::seconds kReportPause{1}, kConnectionTimeout{30};
constexpr std::chrono::milliseconds kPollInterval{10};

Error too_many_reports() {
  Error error(ErrorCode::rate_limited, "too many reports of this tenant are under way");
  error.retry_after = kReportPause;
  return error;
}

}  // namespace

std::shared_ptr<void> ReportQuota::try_acquire(const std::shared_ptr<Taken>& taken,
                                               const std::string& whose, size_t most) {
  const std::lock_guard lock(taken->mutex);
  size_t& count = taken->count[whose];
  if (count >= most) return nullptr;
  ++count;
  return std::shared_ptr<void>(taken.get(), [taken, whose](void*) {
    const std::lock_guard over(taken->mutex);
    const auto found = taken->count.find(whose);
    if (--found->second == 0) taken->count.erase(found);
  });
}

std::shared_ptr<void> ReportQuota::acquire(const std::string& whose) {
  if (whose.empty()) return nullptr;
  auto token = try_acquire(pending_, whose, kMaxPending);
  if (!token) throw too_many_reports();
  return token;
}

Task<std::shared_ptr<void>> ReportQuota::wait_for_connection(std::string whose) {
  if (whose.empty()) co_return nullptr;
  const auto limit = std::chrono::steady_clock::now() + kConnectionTimeout;
  for (;;) {
    auto held = try_acquire(connections_, whose, max_connections_);
    if (held) co_return held;
    if (std::chrono::steady_clock::now() > limit) throw too_many_reports();
    co_await sleep_for(kPollInterval);
  }
}

}  // namespace sandgate
