#pragma once
#include "billing/change_trail.hpp"
#include "gateway/http/routes.hpp"
#include "registry/audit_log.hpp"

namespace sandgate::api {

// Who makes this request, as the audit trail names him.
Actor actor_of(const http::Request& request);

// Writes the request down as `action` ("<noun>.<verb>") on `object`. For stores of billing, which
// know of no requests.
ChangeTrail trail_of(const http::Request& request, std::optional<TenantId> tenant,
                     std::string action, std::string object);

// GET /v1/audit: newest first; ?action, ?object, ?key, ?from, ?to. A tenant sees its own objects,
// an operator everybody's or those of the tenant it acts for.
class AuditHandlers {
 public:
  explicit AuditHandlers(Database& database) : database_(database) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);

 private:
  Database& database_;
};

}  // namespace sandgate::api
