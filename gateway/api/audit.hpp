#pragma once
#include "billing/change_trail.hpp"
#include "gateway/http/routes.hpp"
#include "registry/audit_log.hpp"

namespace sandgate::api {

// The author of the request, as recorded in the audit log.
Actor actor_of(const http::Request& request);

// Returns a callback that adds an audit entry `action` ("<noun>.<verb>") on `object`, made by this
// request. For the stores in billing, which do not depend on requests.
ChangeTrail trail_of(const http::Request& request, std::optional<TenantId> tenant,
                     std::string action, std::string object);

// GET /v1/audit: newest first, filtered by ?action, ?object, ?key, ?from and ?to. A tenant sees the
// entries of its own objects; an operator sees all, or those of the tenant it acts for.
class AuditHandlers {
 public:
  explicit AuditHandlers(Database& database) : database_(database) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);

 private:
  Database& database_;
};

}  // namespace sandgate::api
