#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// Who makes a change, and in which request.
struct Actor {
  std::string key_id;  // empty: the operator key of the environment, or Sandgate itself
  std::string key_name;
  std::string role;  // "owner", …, "operator", "system"
  std::string request_id;
  std::string claim;  // the claim of an Idempotency-Key; empty: none
};

// One audited change. `before` and `after` are null where nothing existed; neither may hold
// secrets.
struct AuditEntry {
  Actor actor;
  std::optional<TenantId> tenant;  // whose object it is; empty: the operator's
  std::string action;  // "<noun>.<verb>", such as "key.revoke"
  std::string object;  // id or name
  Json before, after;
};

// Adds an entry to the audit trail in the transaction of the change, so that both or neither
// commit.
void audit(pqxx::work& tx, const AuditEntry& entry);

struct AuditRow {
  int64_t id = 0;
  Time at;
  AuditEntry entry;
};

struct AuditFilter {
  std::optional<TenantId> tenant;  // only its objects; empty: all
  std::optional<std::string> action, object, key_id;
  std::optional<Time> from, to;  // from <= at < to
  std::optional<std::pair<Time, int64_t>> before;  // only before this `at` and id: continues a list
  int64_t limit = 50;
};

// Newest first by `at`, those of one moment by id. An entry is seen once its transaction has
// committed, which may be after a younger entry was seen.
std::vector<AuditRow> read_audit(pqxx::work& tx, const AuditFilter& filter);

}  // namespace sandgate
