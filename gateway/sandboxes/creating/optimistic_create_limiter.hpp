#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Admission for creates that call the backend before their row is written: four at once per tenant,
// none for 10 s after a refusal of the tenant, and none at all for 10 s after the database did not
// answer, since a refused sandbox was made for nothing. Thread-safe.
class OptimisticCreateLimiter : public std::enable_shared_from_this<OptimisticCreateLimiter> {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr int kAtOnce = 4;
  static constexpr std::chrono::seconds kBackoff{10};

  // Held until the sandbox has its row or its end; null: write the row first.
  std::shared_ptr<void> take(const TenantId& tenant, const SandboxId& sandbox,
                             Instant now = std::chrono::steady_clock::now());
  void refused(const TenantId& tenant, Instant now = std::chrono::steady_clock::now());
  // Call when the database did not answer.
  void not_written(Instant now = std::chrono::steady_clock::now());
  // Records for 10 s that the tenant has limits or budgets, so its creates skip insert_unlimited().
  void note_limits(const TenantId& tenant, Instant now = std::chrono::steady_clock::now());
  bool has_limits(const TenantId& tenant, Instant now = std::chrono::steady_clock::now()) const;
  // Permission to hold a database connection while the backend works, for at most `most` creates at
  // once and only when the tenant has no other such create under way. Null: denied.
  std::shared_ptr<void> hold_connection(const TenantId& tenant, size_t most);
  // Whether this sandbox may exist without a row.
  bool holds(const SandboxId& sandbox) const;

 private:
  struct Tenant {
    int under_way = 0;
    Instant backoff_until{}, has_limits_until{};
  };
  void give_back(const TenantId& tenant, const SandboxId& sandbox);
  void forget_idle(Instant now);

  mutable std::mutex mutex_;
  std::set<std::string> sandboxes_;  // of such creates
  std::map<std::string, Tenant> tenants_;  // with such creates, limits or a back-off
  Instant all_backoff_until_{};
  size_t connections_ = 0;  // held
};

}  // namespace sandgate
