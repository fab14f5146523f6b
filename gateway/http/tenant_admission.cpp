#include "gateway/http/tenant_admission.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

namespace sandgate::http {
namespace {

using Count = std::shared_ptr<std::atomic<int64_t>>;

constexpr std::chrono::milliseconds kTryAgainIn{1000};
constexpr size_t kMaxTenants = 10'000;  // remembered; one that is forgotten has its full bucket
constexpr int64_t kMaxBodies = 2'000;  // of a tenant, being received

Count count_of(BoundedMap<Count>& counts, const TenantId& tenant) {
  return counts.with(
      tenant.value, [] { return std::make_shared<std::atomic<int64_t>>(0); },
      [](auto& there) { return there; });
}

// Counts one more for the caller's tenant until the returned token is destroyed. Throws what
// `refusal` returns if there are more than `most` then.
template <class Refusal>
std::shared_ptr<void> count(BoundedMap<Count>& counts, const Caller& caller, int64_t most,
                            Refusal refusal) {
  if (!caller.tenant) return nullptr;
  const Count one = count_of(counts, *caller.tenant);
  if (++*one > most) {
    --*one;
    throw refusal();
  }
  return std::shared_ptr<void>(one.get(), [one](void*) { --*one; });
}

Error retry_later(const char* why) {
  Error error(ErrorCode::rate_limited, why);
  error.retry_after = kTryAgainIn;
  return error;
}

// Reads, and queries sent by POST, have a read permission.
bool only_looks(Permission permission) {
  switch (permission) {
    case Permission::use_sandboxes:
    case Permission::write_profiles:
    case Permission::write_secrets:
    case Permission::administer_tenant:
    case Permission::write_billing:
      return false;
    default:
      return true;
  }
}

// Suspension forbids requests that create or cost something.
bool is_forbidden_to_suspended(const Route& route) {
  if (only_looks(route.permission) || route.method == Method::delete_) return false;
  return route.method != Method::get || route.starts_work;
}

}  // namespace

TenantAdmission::TenantAdmission(TenantDirectory& tenants, Options options, Now now)
    : tenants_(tenants),
      options_(options),
      now_(std::move(now)),
      buckets_(kMaxTenants),
      streams_(kMaxTenants),
      bodies_(kMaxTenants),
      requests_(kMaxTenants),
      quota_(options.connections) {}

std::chrono::nanoseconds TenantAdmission::take(Bucket& bucket, int64_t per_second) const {
  const auto now = now_();
  const double rate = static_cast<double>(per_second);
  const std::chrono::duration<double> passed = now - bucket.filled_at;
  bucket.tokens = std::min(rate, bucket.tokens + std::max(0.0, passed.count()) * rate);
  bucket.filled_at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return {};
  }
  const std::chrono::duration<double> wait((1 - bucket.tokens) / rate);
  return std::chrono::ceil<std::chrono::nanoseconds>(wait);
}

bool TenantAdmission::may_continue(const Caller& caller, const Route& route) const {
  if (caller.is_operator() || !is_forbidden_to_suspended(route)) return true;
  const auto tenant = caller.tenant ? tenants_.last_known(*caller.tenant) : nullptr;
  return !caller.suspended && !(tenant && tenant->suspended);
}

void TenantAdmission::admit(const Caller& caller, const Route& route) {
  // Operators are not counted against the tenant they act for.
  if (!caller.tenant || caller.is_operator()) return;
  if (!may_continue(caller, route)) throw tenant_is_suspended();
  const auto tenant = tenants_.last_known(*caller.tenant);
  if (!tenant || !tenant->limits.requests_per_second) return;
  const int64_t per_second = *tenant->limits.requests_per_second;
  const auto full = [&] { return Bucket{now_(), static_cast<double>(per_second)}; };
  const auto wait = buckets_.with(caller.tenant->value, full,
                                  [&](Bucket& bucket) { return take(bucket, per_second); });
  if (wait == std::chrono::nanoseconds::zero()) return;
  Error error(ErrorCode::rate_limited,
              "this tenant may send " + std::to_string(per_second) + " requests per second");
  error.retry_after = std::chrono::ceil<std::chrono::milliseconds>(wait);
  throw error;
}

std::shared_ptr<void> TenantAdmission::open_stream(const Caller& caller) {
  return count(streams_, caller, options_.max_streams, [] {
    return Error(ErrorCode::quota_exceeded, "this tenant has too many streams open");
  });
}

std::shared_ptr<void> TenantAdmission::open_body(const Caller& caller) {
  return count(bodies_, caller, kMaxBodies,
               [] { return retry_later("this tenant sends too many bodies at once"); });
}

std::shared_ptr<void> TenantAdmission::begin_request(const Caller& caller) {
  int64_t most = std::numeric_limits<int64_t>::max();
  if (options_.is_crowded && options_.is_crowded())
    most = options_.crowded_share + *count_of(streams_, *caller.tenant);
  return count(requests_, caller, most, [] {
    return retry_later("the service is busy, and this tenant has many requests under way at once");
  });
}

std::shared_ptr<void> TenantAdmission::hold_connection(const Caller& caller, Requester requester) {
  if (!caller.tenant || caller.is_operator()) return nullptr;
  auto token = quota_.acquire(*caller.tenant, requester);
  if (!token) throw retry_later("this tenant has too many requests and streams under way at once");
  if (requester == Requester::visitor) return token;
  using Held = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
  return std::make_shared<Held>(std::move(token), begin_request(caller));
}

}  // namespace sandgate::http
