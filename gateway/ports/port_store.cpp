#include "gateway/ports/port_store.hpp"

#include "gateway/core/statement.hpp"
#include "registry/idempotency_effect.hpp"

namespace sandgate::ports {
namespace {

constexpr char kColumns[] =
    "sandbox, tenant, port, access, coalesce(token_hash, ''), salt, "
    "(extract(epoch FROM created_at) * 1000000)::bigint, "
    "(extract(epoch FROM expires_at) * 1000000)::bigint";

OpenPort port_from(const pqxx::row& row) {
  OpenPort port;
  port.sandbox = SandboxId{row[0].as<std::string>()};
  port.tenant = TenantId{row[1].as<std::string>()};
  port.port = static_cast<uint16_t>(row[2].as<int>());
  port.access = kAccessWords.find(row[3].as<std::string>()).value_or(Access::token);
  port.token_hash = row[4].as<std::string>();
  port.salt = row[5].as<std::string>();
  port.created_at = from_micros(row[6].as<int64_t>());
  if (!row[7].is_null()) port.expires_at = from_micros(row[7].as<int64_t>());
  return port;
}

std::string key_of(const SandboxId& sandbox, uint16_t port) {
  return sandbox.value + ":" + std::to_string(port);
}

std::optional<OpenPort> read_port(pqxx::work& tx, const std::string& key) {
  const size_t colon = key.find(':');
  const auto rows = run_prepared(
      tx, std::string("SELECT ") + kColumns + " FROM port WHERE sandbox = $1 AND port = $2",
      key.substr(0, colon), std::stoi(key.substr(colon + 1)));
  if (rows.empty()) return std::nullopt;
  return port_from(rows[0]);
}

void check_room(pqxx::work& tx, const OpenPort& port) {
  // A separate statement, so that its snapshot is taken after the lock was granted.
  run_prepared(tx, "SELECT pg_advisory_xact_lock(hashtextextended('ports/' || $1, 0))",
               port.sandbox.value);
  const auto others = run_prepared(tx,
                                   "SELECT count(*) FROM port WHERE sandbox = $1 AND port <> $2"
                                   " AND (expires_at IS NULL OR expires_at > now())",
                                   port.sandbox.value, static_cast<int>(port.port));
  if (others[0][0].as<int64_t>() >= PortStore::kMaxPerSandbox)
    throw Error(ErrorCode::quota_exceeded, "a sandbox has at most 64 open ports: close one first");
}

OpenPort write_port(pqxx::work& tx, const OpenPort& port,
                    std::optional<std::chrono::seconds> lifetime) {
  const auto token_hash = port.token_hash.empty() ? std::nullopt : std::optional(port.token_hash);
  const auto seconds = lifetime ? std::optional(lifetime->count()) : std::nullopt;
  const auto rows =
      run_prepared(tx, std::string(R"sql(
        INSERT INTO port (sandbox, port, tenant, access, token_hash, salt, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7::bigint))
        ON CONFLICT (sandbox, port) DO UPDATE SET access = excluded.access,
          token_hash = excluded.token_hash, salt = excluded.salt, created_at = now(),
          expires_at = excluded.expires_at
        RETURNING )sql") + kColumns,
                   port.sandbox.value, static_cast<int>(port.port), port.tenant.value,
                   std::string(kAccessWords.of(port.access)), token_hash, port.salt, seconds);
  return port_from(rows[0]);
}

}  // namespace

PortStore::PortStore(Database& database, Notifications& notifications)
    : database_(database), cache_({}, [this](std::string key) -> Task<std::optional<OpenPort>> {
        auto read = [key = std::move(key)](pqxx::work& tx) { return read_port(tx, key); };
        return database_.run(std::move(read));
      }) {
  notifications.subscribe("ports", [this](const std::string& key) {
    if (key.empty())
      cache_.expire_all();
    else
      cache_.expire(key);
  });
}

Task<OpenPort> PortStore::open(OpenPort port, std::optional<std::chrono::seconds> lifetime,
                               std::string claim) {
  auto work = [port, lifetime, claim = std::move(claim)](pqxx::work& tx) {
    mark_effect(tx, claim, "port " + std::to_string(port.port));
    check_room(tx, port);
    return write_port(tx, port, lifetime);
  };
  const OpenPort opened = co_await database_.run(std::move(work));
  cache_.expire(key_of(port.sandbox, port.port));
  co_return opened;
}

Task<bool> PortStore::close(SandboxId sandbox, uint16_t port) {
  auto work = [sandbox, port](pqxx::work& tx) {
    // While all ports are open, a row must record that this one is closed.
    const auto kept = run_prepared(tx,
                                   "UPDATE port SET expires_at = now() WHERE sandbox = $1"
                                   " AND port = $2 AND port > 0"
                                   " AND (expires_at IS NULL OR expires_at > now()) AND EXISTS"
                                   " (SELECT FROM port WHERE sandbox = $1 AND port = 0)",
                                   sandbox.value, static_cast<int>(port));
    if (kept.affected_rows() > 0) return true;
    const auto rows = run_prepared(tx,
                                   "DELETE FROM port WHERE sandbox = $1 AND port = $2"
                                   " AND (port = 0 OR NOT EXISTS"
                                   " (SELECT FROM port WHERE sandbox = $1 AND port = 0))",
                                   sandbox.value, static_cast<int>(port));
    return rows.affected_rows() > 0;
  };
  const bool closed = co_await database_.run(std::move(work));
  cache_.expire(key_of(sandbox, port));
  co_return closed;
}

Task<std::vector<OpenPort>> PortStore::list(SandboxId sandbox) {
  auto work = [sandbox](pqxx::work& tx) {
    std::vector<OpenPort> ports;
    for (const auto& row : run_prepared(tx,
                                        std::string("SELECT ") + kColumns +
                                            " FROM port WHERE sandbox = $1 AND "
                                            "(expires_at IS NULL OR expires_at > now())"
                                            " ORDER BY port",
                                        sandbox.value))
      ports.push_back(port_from(row));
    return ports;
  };
  co_return co_await database_.run(std::move(work));
}

Task<void> PortStore::purge() {
  auto work = [](pqxx::work& tx) {
    tx.exec(R"sql(
      DELETE FROM port USING sandbox
      WHERE sandbox.id = port.sandbox AND (sandbox.ended_at < now() - interval '1 day'
        OR port.expires_at < now() - interval '1 day' AND NOT EXISTS
          (SELECT FROM port every WHERE every.sandbox = port.sandbox AND every.port = 0)))sql");
  };
  co_await database_.run(std::move(work));
}

Task<PortStore::Shared> PortStore::find(const SandboxId& sandbox, uint16_t port) {
  return cache_.get(key_of(sandbox, port));
}

std::optional<PortStore::Shared> PortStore::peek(const SandboxId& sandbox, uint16_t port) {
  return cache_.peek(key_of(sandbox, port));
}

}  // namespace sandgate::ports
