#include "gateway/http/body_room.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kComeBackIn{1000};

bool add(std::atomic<size_t>& taken, size_t more, size_t limit) {
  if (taken.fetch_add(more) + more <= limit) return true;
  taken -= more;
  return false;
}

}  // namespace

BodyRoom::Seat::~Seat() {
  if (taken_ == 0) return;
  *of_tenant_ -= taken_;
  room_.taken_ -= taken_;
}

std::optional<ErrorCode> BodyRoom::Seat::take(size_t bytes) {
  const size_t counted = bytes > room_.options_.free ? bytes : 0;
  if (counted <= taken_) return std::nullopt;
  const size_t more = counted - taken_;
  if (!of_tenant_)
    of_tenant_ = room_.tenants_.with(
        tenant_, [] { return std::make_shared<std::atomic<size_t>>(0); },
        [](auto& there) { return there; });
  if (!add(*of_tenant_, more, room_.options_.of_one)) return ErrorCode::rate_limited;
  if (!add(room_.taken_, more, room_.options_.all)) {
    *of_tenant_ -= more;
    return ErrorCode::unavailable;
  }
  taken_ = counted;
  return std::nullopt;
}

void BodyRoom::Seat::grow_to(size_t bytes) {
  const auto refused = take(bytes);
  if (!refused) return;
  const char* whose = *refused == ErrorCode::rate_limited ? "this tenant has" : "there are";
  Error error(*refused, std::string(whose) + " too many large bodies under way");
  error.retry_after = kComeBackIn;
  throw error;
}

}  // namespace sandgate::http
