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

// Whether the log holds all events of the sandbox.
std::string is_over(const std::string& id) {
  return "NOT EXISTS (SELECT FROM sandbox WHERE id = " + id +
         " AND ended_at IS NULL)"
         " AND NOT EXISTS (SELECT FROM event_outbox WHERE subject = 'sandboxes/' || " +
         id + ")";
}

// One statement, since each event of a tenant has all its streams read at once: its parts see the
// same log. With values in it, so that it is planned for them: few positions, or all of a tenant.
std::string reading(const pqxx::nontransaction& tx, const EventQuery& query) {
  const std::string sandbox = query.sandbox ? tx.quote(query.sandbox->value) : "";
  std::string sql =
      "SELECT log.*, e.* FROM (SELECT coalesce(max(position), 0) AS newest, " +
      (query.sandbox ? is_over(sandbox) : "false") +
      " AS over FROM event) log LEFT JOIN (SELECT position, id, tenant, type, subject, at,"
      " data FROM event WHERE position > " +
      std::to_string(query.after);
  if (query.tenant) sql += " AND tenant IN (" + tx.quote(query.tenant->value) + ", '')";
  if (query.sandbox) sql += " AND subject = 'sandboxes/' || " + sandbox;
  if (!query.types.empty()) {
    std::string list;
    for (const std::string& type : query.types) list += (list.empty() ? "" : ",") + tx.quote(type);
    sql += " AND event_matches(type, ARRAY[" + list + "])";
  }
  return sql + " ORDER BY position LIMIT " + std::to_string(query.limit) +
         ") e ON true ORDER BY position";
}

EventBatch read_in(pqxx::nontransaction& tx, const EventQuery& query) {
  EventBatch batch;
  const auto rows = tx.exec(reading(tx, query));
  batch.through = std::max(rows[0]["newest"].as<int64_t>(), query.after);
  batch.over = rows[0]["over"].as<bool>();
  for (const auto& row : rows)
    if (!row["position"].is_null()) batch.events.push_back(event_from(row));
  if (static_cast<int64_t>(batch.events.size()) == query.limit) {
    batch.through = batch.events.back().position;
    batch.over = false;
  }
  return batch;
}

}  // namespace

EventLog::EventLog(Database& database)
    : database_(database), readers_(std::max<size_t>(1, database.options().connections / 4)) {}

Task<size_t> EventLog::collect(int64_t most) {
  auto work = [most](pqxx::work& tx) {
    return outbox_is_empty(tx) ? size_t{0} : collect_in(tx, most, /*wait=*/false);
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
      return outbox_is_empty(tx) ? size_t{0} : collect_in(tx, kMaxBatch, /*wait=*/true);
    };
    count = co_await database_.run(std::move(work));
    collected_ += count;
  }
}

Task<int64_t> EventLog::newest() { return database_.run(newest_in); }

Task<EventBatch> EventLog::read(EventQuery query) {
  Turns::Turn turn(readers_, co_await asio::this_coro::executor);
  co_await turn.wait();
  auto work = [query = std::move(query)](pqxx::nontransaction& tx) { return read_in(tx, query); };
  co_return co_await database_.run_statement(std::move(work));
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
