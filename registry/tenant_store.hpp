#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

// A tenant's limits; an empty field means no limit.
struct TenantLimits {
  std::optional<int64_t> max_running;  // sandboxes that are not stopped or failed
  std::optional<int64_t> max_milli_vcpu;  // sum over those, in thousandths
  std::optional<int64_t> creates_per_minute;
  std::optional<int64_t> requests_per_second;
  bool operator==(const TenantLimits&) const = default;
};

struct Tenant {
  TenantId id;
  std::string name;
  bool suspended = false;
  TenantLimits limits;
  Time created_at;
};

// As in GET /v1/tenants/{id} and the audit trail.
Json to_json(const TenantLimits& limits);
Json to_json(const Tenant& tenant);

// A tenant's limits, for transactions that enforce them. Throws Error(not_found). Takes no lock:
// the caller locks what it counts.
TenantLimits tenant_limits(pqxx::work& tx, const TenantId& id);

// NOTIFY channel of tenants; the payload is the tenant's id.
inline constexpr char kTenantsChannel[] = "tenants";

// Changes to a tenant; empty fields stay as they are.
struct TenantChange {
  std::optional<std::string> name;
  std::optional<bool> suspended;
};

// Tenants in PostgreSQL. Every change is audited in the same transaction.
class TenantStore {
 public:
  explicit TenantStore(Database& database) : database_(database) {}

  // Sets a callback for the id of each tenant changed through this object. It runs before the
  // change is answered, so this replica need not wait for its own NOTIFY. Set once, before use.
  void on_change(std::function<void(const std::string& id)> changed) {
    changed_ = std::move(changed);
  }

  Task<Tenant> create(std::string name, Actor actor);
  Task<std::optional<Tenant>> find(TenantId id);
  // Oldest first, after (created_at, id) when given.
  Task<std::vector<Tenant>> list(std::optional<std::pair<Time, std::string>> after, int64_t limit);
  // Both throw Error(not_found).
  Task<Tenant> change(TenantId id, TenantChange change, Actor actor);
  Task<Tenant> set_limits(TenantId id, TenantLimits limits, Actor actor);

 private:
  Task<Tenant> notify_after(Task<Tenant> changing);

  Database& database_;
  std::function<void(const std::string& id)> changed_;
};

}  // namespace sandgate
