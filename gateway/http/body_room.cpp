#include "gateway/http/body_room.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::milliseconds kComeBackIn{1000};

bool take(std::atomic<size_t>& taken, size_t more, size_t limit) {
  if (taken.fetch_add(more) + more <= limit) return true;
  taken -= more;
  return false;
}

Error no_room(ErrorCode code, const std::string& whose) {
  Error error(code, whose + " too many large bodies under way");
  error.retry_after = kComeBackIn;
  return error;
}

}  // namespace

BodyRoom::Seat::~Seat() {
  if (taken_ == 0) return;
  *of_tenant_ -= taken_;
  room_.taken_ -= taken_;
}

void BodyRoom::Seat::grow_to(size_t bytes) {
  const size_t counted = bytes > room_.options_.free ? bytes : 0;
  if (counted <= taken_) return;
  const size_t more = counted - taken_;
  if (!of_tenant_)
    of_tenant_ = room_.tenants_.with(
        tenant_, [] { return std::make_shared<std::atomic<size_t>>(0); },
        [](auto& there) { return there; });
  if (!take(*of_tenant_, more, room_.options_.of_one))
    throw no_room(ErrorCode::rate_limited, "this tenant has");
  if (!take(room_.taken_, more, room_.options_.all)) {
    *of_tenant_ -= more;
    throw no_room(ErrorCode::unavailable, "there are");
  }
  taken_ = counted;
}

}  // namespace sandgate::http
