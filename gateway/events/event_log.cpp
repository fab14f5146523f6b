#include "gateway/events/event_log.hpp"

#include "gateway/core/statement.hpp"
#include "gateway/events/event_row.hpp"

namespace sandgate {
namespace {

// Arbitrary, but the same in every replica.
constexpr int64_t kCollectorLock = 0x4556454e54;
constexpr int64_t kMaxBatch = 500;

// A webhook gets only events after its creation; a webhook removed meanwhile is skipped.
constexpr char kCollect[] = R"sql(
  WITH taken AS (
    DELETE FROM event_outbox WHERE ordinal IN
      (SELECT ordinal FROM event_outbox ORDER BY ordinal LIMIT $1) RETURNING *),
  told AS (
    INSERT INTO event (id, tenant, type, subject, at, data)
    SELECT id, tenant, type, subject, at, data FROM taken ORDER BY ordinal
    RETURNING position, tenant, type, subject, at),
  sent AS (
    INSERT INTO webhook_delivery (webhook, position)
    SELECT w.id, t.position FROM told t JOIN webhook w
      ON (w.tenant = t.tenant OR w.tenant = '' OR t.tenant = '')
    WHERE w.disabled_at IS NULL AND w.created_at <= t.at AND event_matches(t.type, w.types)
    FOR KEY SHARE OF w)
  SELECT count(*), count(pg_notify('events', line)) FROM
    (SELECT tenant || ' ' || subject AS line FROM told) lines)sql";

// Held until the commit, which makes the moved rows visible to the next collector.
size_t collect_in(pqxx::work& tx, int64_t most, bool wait) {
  const std::string lock = std::to_string(kCollectorLock);
  if (wait)
    tx.exec("SELECT pg_advisory_xact_lock(" + lock + ")");
  else if (!tx.exec1("SELECT pg_try_advisory_xact_lock(" + lock + ")")[0].as<bool>())
    return 0;
  return run_prepared(tx, kCollect, most)[0][0].as<size_t>();
}

bool outbox_is_empty(pqxx::work& tx) { return tx.exec("SELECT FROM event_outbox LIMIT 1").empty(); }

int64_t newest_in(pqxx::work& tx) {
  return tx.exec1("SELECT coalesce(max(position), 0) FROM event")[0].as<int64_t>();
}

// Before reading events: the log then holds all events of the sandbox.
bool is_over(pqxx::work& tx, const SandboxId& id) {
  return tx
      .exec_params1(
          "SELECT NOT EXISTS (SELECT FROM sandbox WHERE id = $1 AND ended_at IS NULL)"
          " AND NOT EXISTS (SELECT FROM event_outbox WHERE subject = 'sandboxes/' || $1)",
          id.value)[0]
      .as<bool>();
}

EventBatch read_in(pqxx::work& tx, const EventQuery& query) {
  EventBatch batch;
  batch.over = query.sandbox && is_over(tx, *query.sandbox);
  batch.through = std::max(newest_in(tx), query.after);
  std::string sql = "SELECT position, id, tenant, type, subject, at, data FROM event";
  sql += " WHERE position > " + std::to_string(query.after) +
         " AND position <= " + std::to_string(batch.through);
  if (query.tenant) sql += " AND tenant IN (" + tx.quote(query.tenant->value) + ", '')";
  if (query.sandbox) sql += " AND subject = " + tx.quote("sandboxes/" + query.sandbox->value);
  if (!query.types.empty()) {
    std::string list;
    for (const std::string& type : query.types) list += (list.empty() ? "" : ",") + tx.quote(type);
    sql += " AND event_matches(type, ARRAY[" + list + "])";
  }
  sql += " ORDER BY position LIMIT " + std::to_string(query.limit);
  for (const auto& row : tx.exec(sql)) batch.events.push_back(event_from(row));
  if (static_cast<int64_t>(batch.events.size()) == query.limit) {
    batch.through = batch.events.back().position;
    batch.over = false;
  }
  return batch;
}

}  // namespace

Task<size_t> EventLog::collect(int64_t most) {
  auto work = [most](pqxx::work& tx) {
    return outbox_is_empty(tx) ? size_t{0} : collect_in(tx, most, false);
  };
  const size_t count = co_await database_.run(std::move(work));
  collected_ += count;
  co_return count;
}

Task<void> EventLog::collect_all() {
  for (size_t count = kMaxBatch; count == kMaxBatch;) count = co_await collect(kMaxBatch);
}

Task<void> EventLog::catch_up() {
  for (size_t count = kMaxBatch; count == kMaxBatch;) {
    auto work = [](pqxx::work& tx) {
      // Events that another replica is moving leave the outbox only with its commit.
      return outbox_is_empty(tx) ? size_t{0} : collect_in(tx, kMaxBatch, true);
    };
    count = co_await database_.run(std::move(work));
    collected_ += count;
  }
}

Task<int64_t> EventLog::newest() { return database_.run(newest_in); }

Task<EventBatch> EventLog::read(EventQuery query) {
  return database_.run([query = std::move(query)](pqxx::work& tx) { return read_in(tx, query); });
}

Task<size_t> EventLog::prune(std::chrono::seconds age, int64_t most) {
  // Positions grow with time closely enough to stop at the first young events.
  return database_.run([age, most](pqxx::work& tx) {
    return static_cast<size_t>(
        tx.exec_params("DELETE FROM event WHERE position IN (SELECT position FROM"
                       " (SELECT position, at FROM event ORDER BY position LIMIT $2) oldest"
                       " WHERE at < now() - make_interval(secs => $1))",
                       age.count(), most)
            .affected_rows());
  });
}

}  // namespace sandgate
