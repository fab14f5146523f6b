#include "gateway/http/body_memory_quota.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kComeBackIn{1000};

bool add(std::atomic<size_t>& taken, size_t more, size_t limit) {
  if (taken.fetch_add(more) + more <= limit) return true;
  taken -= more;
  return false;
}

}  // namespace

BodyMemoryQuota::Reservation::~Reservation() {
  if (taken_ == 0) return;
  *of_tenant_ -= taken_;
  quota_.taken_ -= taken_;
}

std::optional<ErrorCode> BodyMemoryQuota::Reservation::take(size_t bytes) {
  const size_t counted = bytes > quota_.options_.uncounted ? bytes : 0;
  if (counted <= taken_) return std::nullopt;
  const size_t more = counted - taken_;
  if (!of_tenant_)
    of_tenant_ = quota_.tenants_.with(
        tenant_, [] { return std::make_shared<std::atomic<size_t>>(0); },
        [](auto& there) { return there; });
  if (!add(*of_tenant_, more, quota_.options_.per_tenant)) return ErrorCode::rate_limited;
  if (!add(quota_.taken_, more, quota_.options_.total)) {
    *of_tenant_ -= more;
    return ErrorCode::unavailable;
  }
  taken_ = counted;
  return std::nullopt;
}

void BodyMemoryQuota::Reservation::grow_to(size_t bytes) {
  const auto refused = take(bytes);
  if (!refused) return;
  const char* whose = *refused == ErrorCode::rate_limited ? "this tenant has" : "there are";
  Error error(*refused, std::string(whose) + " too many large bodies under way");
  error.retry_after = kComeBackIn;
  throw error;
}

}  // namespace sandgate::http
