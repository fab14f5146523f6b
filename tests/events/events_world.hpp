#pragma once
#include "gateway/events/event_log.hpp"
#include "gateway/events/outbox.hpp"
#include "registry/tenant_store.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {

// A database with two tenants, and rows of sandboxes without anything behind them.
struct EventsWorld {
  std::string sql(const std::string& query) {
    auto work = [query](pqxx::work& tx) {
      const auto rows = tx.exec(query);
      return rows.empty() || rows[0][0].is_null() ? std::string() : rows[0][0].as<std::string>();
    };
    return run(database->run(std::move(work)));
  }
  SandboxId add_sandbox(const TenantId& owner) {
    const SandboxId id = SandboxId::make();
    sql("INSERT INTO sandbox (id, tenant, state, profile, profile_version, decision, isolation,"
        " planned, persistence, milli_vcpu, memory_mib, disk_gib, processes, metadata, ttl_seconds,"
        " max_ttl_seconds, expires_at, on_expiry, idle_timeout_seconds, on_idle, auto_resume,"
        " lease_until) VALUES ('" +
        id.value + "', '" + owner.value +
        "', 'creating', 'python', 3, 'dc', 'container', '{}', 'ephemeral', 1000, 512, 1, 64,"
        " '{\"run\": \"42\"}', 60, 60, now(), 'kill', 0, 'kill', false, now())");
    return id;
  }
  void set_state(const SandboxId& id, const std::string& state, const std::string& more = "") {
    sql("UPDATE sandbox SET state = '" + state + "', backend_id = 'b'" + more + " WHERE id = '" +
        id.value + "'");
  }
  void tell(const std::optional<TenantId>& owner, const std::string& type, int number = 0) {
    auto work = [owner, type, number](pqxx::work& tx) {
      publish_event(tx, owner, type, "deployments/main", {{"number", number}});
    };
    run(database->run(std::move(work)));
  }
  // Everything the query finds after what is in the outbox was collected.
  std::vector<Event> all(EventQuery query = {}) {
    run(log.catch_up());
    query.limit = 100'000;
    return run(log.read(query)).events;
  }

  TestDatabase database;
  EventLog log{*database};
  TenantStore tenants{*database};
  TenantId tenant = run(tenants.create("acme", Actor{.role = "operator"})).id;
  TenantId other = run(tenants.create("other", Actor{.role = "operator"})).id;
};

inline std::vector<std::string> types_of(const std::vector<Event>& events) {
  std::vector<std::string> types;
  for (const Event& event : events) types.push_back(event.type);
  return types;
}

}  // namespace sandgate::test
