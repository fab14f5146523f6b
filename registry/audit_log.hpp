#pragma once
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Who changes something, in the course of which request.
struct Actor {
  std::string key_id;  // empty: the operator key of the environment, or Sandgate itself
  std::string key_name;
  std::string role;  // "owner", …, "operator", "system"
  std::string request_id;
  std::string claim;  // of the request's run under an Idempotency-Key; empty: it has none
};

// One change. `before` and `after` are null where there was nothing; they must hold no secret.
struct AuditEntry {
  Actor actor;
  std::optional<TenantId> tenant;  // whose object it is; empty: the operator's
  std::string action;  // "<noun>.<verb>", say "key.revoke"
  std::string object;  // id or name
  Json before, after;
};

// Adds to the trail within the transaction of the change itself: neither happens without the other.
void audit(pqxx::work& tx, const AuditEntry& entry);

struct AuditRow {
  int64_t id = 0;
  Time at;
  AuditEntry entry;
};

struct AuditFilter {
  std::optional<TenantId> tenant;  // only its objects; empty: everybody's
  std::optional<std::string> action, object, key_id;
  std::optional<Time> from, to;  // from <= at < to
  std::optional<int64_t> below_id;  // continues a list
  int64_t limit = 50;
};

// Newest first.
std::vector<AuditRow> read_audit(pqxx::work& tx, const AuditFilter& filter);

}  // namespace sandgate
