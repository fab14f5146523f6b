#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "gateway/core/bounded_map.hpp"
#include "gateway/http/admission.hpp"
#include "registry/tenant_directory.hpp"

namespace sandgate::http {

// Enforces per-tenant limits: requests_per_second (a token bucket of one second's worth, per
// replica), concurrent streams, arriving bodies, a share of all connections, and while many wait
// for the database a number of requests under way. Suspended tenants may only read and delete.
// Thread-safe; `tenants` must outlive it.
class TenantAdmission final : public Admission {
 public:
  struct Options {
    int64_t max_streams = 1'000;  // per tenant
    size_t connections = 4'096;  // of all tenants; ConnectionQuota decides each tenant's share
    // Whether there may soon be no room for further calls of the database. Then a tenant may have
    // `crowded_share` requests under way besides its streams.
    std::function<bool()> is_crowded;
    int64_t crowded_share = 256;
  };
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  explicit TenantAdmission(TenantDirectory& tenants, Options options,
                           Now now = std::chrono::steady_clock::now);
  explicit TenantAdmission(TenantDirectory& tenants) : TenantAdmission(tenants, Options{}) {}

  void admit(const Caller& caller, const Route& route) override;
  bool may_continue(const Caller& caller, const Route& route) const override;
  std::shared_ptr<void> open_stream(const Caller& caller) override;
  std::shared_ptr<void> open_body(const Caller& caller) override;
  std::shared_ptr<void> hold_connection(const Caller& caller, Requester requester) override;
  // Changes Options::connections; held connections stay.
  void set_connections(size_t most) { quota_.set_limit(most); }

 private:
  struct Bucket {
    std::chrono::steady_clock::time_point filled_at;
    double tokens = 0;
  };
  using Counts = BoundedMap<std::shared_ptr<std::atomic<int64_t>>>;
  // Returns the time until a token is available; zero if one was taken.
  std::chrono::nanoseconds take(Bucket& bucket, int64_t per_second) const;
  std::shared_ptr<void> begin_request(const Caller& caller);

  TenantDirectory& tenants_;
  Options options_;
  Now now_;
  BoundedMap<Bucket> buckets_;
  Counts streams_, bodies_, requests_;
  ConnectionQuota quota_;
};

}  // namespace sandgate::http
