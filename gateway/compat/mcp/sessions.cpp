#include "gateway/compat/mcp/sessions.hpp"

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr size_t kEndsAtOnce = 4;

Error no_session() {
  return Error(ErrorCode::not_found, "there is no such session: begin another with initialize");
}

SessionId id_of(const http::Request& request) {
  const auto text = request.headers.find("Mcp-Session-Id");
  if (!text) throw Error::invalid("/Mcp-Session-Id", "is required");
  auto id = SessionId::parse(*text);
  if (!id) throw no_session();
  return std::move(*id);
}

// Many clients disappear without ending their session. Sessions with a live sandbox are kept.
int64_t end_idle(pqxx::work& tx, const TenantId& tenant) {
  return tx
      .exec_params(
          "UPDATE mcp_session SET ended_at = now() WHERE id IN (SELECT id FROM mcp_session AS old"
          " WHERE tenant = $1 AND ended_at IS NULL AND used_at < now() - interval '10 minutes'"
          " AND NOT EXISTS (SELECT FROM sandbox WHERE sandbox.tenant = old.tenant"
          " AND sandbox.scope_key = old.id AND sandbox.scope_key <> ''"
          " AND sandbox.ended_at IS NULL) ORDER BY used_at LIMIT 100)",
          tenant.value)
      .affected_rows();
}

void insert(pqxx::work& tx, const SessionId& id, const TenantId& tenant, const std::string& key) {
  const auto open = tx.exec_params1(
      "SELECT count(*) FROM (SELECT FROM mcp_session WHERE tenant = $1 AND ended_at IS NULL"
      " LIMIT $2) AS sessions",
      tenant.value, Sessions::kMaxOpen);
  if (open[0].as<int64_t>() < Sessions::kMaxOpen || end_idle(tx, tenant) > 0) {
    tx.exec_params("INSERT INTO mcp_session (id, tenant, key) VALUES ($1, $2, $3)", id.value,
                   tenant.value, key);
    return;
  }
  throw Error(ErrorCode::quota_exceeded, "the tenant has too many MCP sessions: end some");
}

// Joins the session with the live sandbox in its scope. Most uses extend nothing: an extend is a
// write, and a request to the backend.
constexpr const char* kFind =
    "SELECT session.used_at < now() - interval '1 minute' AS stale, sandbox.id AS sandbox,"
    " sandbox.state, CASE WHEN sandbox.expires_at < now()"
    " + make_interval(secs => sandbox.ttl_seconds * 0.9) THEN sandbox.ttl_seconds ELSE 0 END"
    " AS extend_to FROM mcp_session AS session LEFT JOIN sandbox ON"
    " sandbox.tenant = session.tenant AND sandbox.scope_key = session.id"
    " AND sandbox.scope_key <> '' AND sandbox.ended_at IS NULL"
    " WHERE session.id = $1 AND session.tenant = $2 AND session.key = $3"
    " AND session.ended_at IS NULL ORDER BY sandbox.state = 'stopping'";

std::optional<Session> use(pqxx::work& tx, const SessionId& id, const TenantId& tenant,
                           const std::string& key) {
  const auto rows = run_prepared(tx, kFind, id.value, tenant.value, key);
  if (rows.empty()) return std::nullopt;
  if (rows[0]["stale"].as<bool>())
    tx.exec_params("UPDATE mcp_session SET used_at = now() WHERE id = $1", id.value);
  const auto state = rows[0]["state"].as<std::string>("stopping");
  if (state == "stopping") return Session{id, "", false};
  return Session{id, rows[0]["sandbox"].as<std::string>(), state == "running",
                 rows[0]["extend_to"].as<int64_t>()};
}

}  // namespace

Task<SessionId> Sessions::open(const http::Request& request) {
  const SessionId id = SessionId::make();
  auto work = [id, tenant = request.tenant(), key = request.caller.key_id](pqxx::work& tx) {
    insert(tx, id, tenant, key);
  };
  co_await database_.run(std::move(work));
  co_return id;
}

Task<Session> Sessions::find(const http::Request& request) {
  const SessionId id = id_of(request);
  auto work = [id, tenant = request.tenant(), key = request.caller.key_id](pqxx::work& tx) {
    return use(tx, id, tenant, key);
  };
  auto found = co_await database_.run(std::move(work));
  if (!found) throw no_session();
  co_return std::move(*found);
}

std::vector<Sessions::Leftover> Sessions::leftovers_of(pqxx::work& tx, const std::string& session) {
  const auto rows = tx.exec_params(
      "SELECT sandbox.tenant, sandbox.id FROM mcp_session AS session JOIN sandbox ON"
      " sandbox.tenant = session.tenant AND sandbox.scope_key = session.id"
      " WHERE sandbox.scope_key <> '' AND sandbox.ended_at IS NULL"
      " AND sandbox.state <> 'stopping' AND session.ended_at IS NOT NULL"
      " AND ($1 = '' OR session.id = $1) LIMIT 500",
      session);
  std::vector<Leftover> left;
  for (const auto& row : rows)
    left.emplace_back(TenantId{row[0].as<std::string>()}, SandboxId{row[1].as<std::string>()});
  return left;
}

Task<void> Sessions::end_sandboxes(std::vector<Leftover> left) {
  auto end_one = [this](Leftover one) -> Task<void> {
    co_await lifecycle_.kill(std::move(one.first), std::move(one.second));
  };
  co_await for_each_concurrent(std::move(left), kEndsAtOnce, std::move(end_one));
}

// The row is ended first, so that a later sweep finds sandboxes that could not be ended.
Task<SessionId> Sessions::end(const http::Request& request) {
  SessionId id = id_of(request);
  auto work = [id, tenant = request.tenant(), key = request.caller.key_id](pqxx::work& tx) {
    const auto ended = tx.exec_params(
        "UPDATE mcp_session SET ended_at = now() WHERE id = $1 AND tenant = $2 AND key = $3"
        " AND ended_at IS NULL",
        id.value, tenant.value, key);
    return ended.affected_rows() > 0;
  };
  const bool ended = co_await database_.run(std::move(work));
  if (!ended) throw no_session();
  co_return id;
}

Task<void> Sessions::end_sandbox(SessionId session) {
  auto read = [session](pqxx::work& tx) { return leftovers_of(tx, session.value); };
  auto left = co_await database_.run(std::move(read));
  co_await end_sandboxes(std::move(left));
}

Task<void> Sessions::sweep() {
  auto work = [](pqxx::work& tx) {
    tx.exec(
        "UPDATE mcp_session SET ended_at = now() WHERE ended_at IS NULL"
        " AND used_at < now() - interval '1 day'");
    // By then a create that was running when its session ended has finished.
    tx.exec(
        "DELETE FROM mcp_session WHERE ended_at < now() - interval '1 hour' AND NOT EXISTS"
        " (SELECT FROM sandbox WHERE sandbox.tenant = mcp_session.tenant"
        " AND sandbox.scope_key = mcp_session.id AND sandbox.scope_key <> ''"
        " AND sandbox.ended_at IS NULL)");
    return leftovers_of(tx, "");
  };
  auto left = co_await database_.run(std::move(work));
  co_await end_sandboxes(std::move(left));
}

}  // namespace sandgate::compat::mcp
