#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/core/ids.hpp"

namespace sandgate {

// Whose creates may have their sandbox made before anything of them is written down: a few of each
// tenant at once, none of who was refused one lately, and none at all while nothing can be written
// down, since what is refused afterwards was made for nothing. Thread-safe.
class HeadStarts : public std::enable_shared_from_this<HeadStarts> {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr int kAtOnce = 4;
  static constexpr std::chrono::seconds kRest{10};

  // Held until the sandbox has its row or its end; null: first the row, then the sandbox.
  std::shared_ptr<void> take(const TenantId& tenant, const SandboxId& sandbox,
                             Instant now = std::chrono::steady_clock::now());
  void refused(const TenantId& tenant, Instant now = std::chrono::steady_clock::now());
  // The database did not answer.
  void not_written(Instant now = std::chrono::steady_clock::now());
  // Its creates are judged, by limits or budgets: for that time nobody asks again whether they are.
  void judged(const TenantId& tenant, Instant now = std::chrono::steady_clock::now());
  bool is_judged(const TenantId& tenant, Instant now = std::chrono::steady_clock::now()) const;
  // Leave to hold a connection of the database while the sandbox is made, `most` at once: for the
  // only one that its tenant has under way. Null: not now.
  std::shared_ptr<void> hold_connection(const TenantId& tenant, size_t most);
  // Whether this sandbox may be there without a row.
  bool holds(const SandboxId& sandbox) const;

 private:
  struct Tenant {
    int under_way = 0;
    Instant rests_until{}, judged_until{};
  };
  void give_back(const TenantId& tenant, const SandboxId& sandbox);
  void forget_rested(Instant now);

  mutable std::mutex mutex_;
  std::set<std::string> sandboxes_;  // under way
  std::map<std::string, Tenant> tenants_;  // of which something is under way or rests
  Instant all_rest_until_{};
  size_t connections_ = 0;  // held
};

}  // namespace sandgate
