#include "gateway/placement/place.hpp"

#include <algorithm>

#include "gateway/placement/race.hpp"

namespace sandgate {
namespace {

// Keeps the backend's own timer from ending a sandbox before the reaper does.
constexpr std::chrono::seconds kBackendGrace{60};

}  // namespace

bool can_fail_over(ErrorCode code) {
  switch (code) {
    case ErrorCode::rate_limited:
    case ErrorCode::no_capacity:
    case ErrorCode::unavailable:
    case ErrorCode::timeout:
    case ErrorCode::not_found:
    case ErrorCode::unsupported:
      return true;
    default:
      return false;
  }
}

Task<Placement> place(Decision decision, CreateSpec spec, HealthBoard& board,
                      DiscardSandbox discard) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  auto strand = asio::make_strand(executor);
  auto race = std::make_shared<Race>(strand, std::move(decision), std::move(spec), board,
                                     std::move(discard));
  auto work = [race]() -> Task<Placement> { return race->run(); };
  co_return co_await asio::co_spawn(strand, std::move(work), asio::use_awaitable);
}

std::vector<std::string> planned(const Decision& decision) {
  std::vector<std::string> names;
  for (const Candidate& candidate : decision.candidates)
    if (candidate.eligible()) names.push_back(candidate.deployment->name);
  return names;
}

std::chrono::seconds backend_ttl(std::chrono::seconds ttl, const Descriptor& descriptor) {
  const auto wanted = ttl + kBackendGrace;
  const std::chrono::seconds max_ttl(descriptor.limits.max_ttl_seconds);
  return max_ttl.count() > 0 ? std::min(wanted, std::max(max_ttl, ttl)) : wanted;
}

int64_t longest_ttl(const Descriptor& descriptor, EndAction on_expiry) {
  const int64_t max_ttl = descriptor.limits.max_ttl_seconds;
  if (max_ttl == 0 || on_expiry == EndAction::kill) return max_ttl;
  return std::max<int64_t>(1, max_ttl - kBackendGrace.count());
}

}  // namespace sandgate
