#include "gateway/sandboxes/upkeep/history.hpp"

namespace sandgate::sandbox_rows {
namespace {

constexpr const char* kForgetEnded = R"sql(
WITH old AS MATERIALIZED (
  SELECT id, decision FROM sandbox WHERE ended_at <= now() - $1 * interval '1 hour'
    -- Not while a backend may still have something of it, or a snapshot says where it is from.
    AND NOT EXISTS (SELECT FROM attempt a WHERE a.sandbox = sandbox.id AND a.resolved_at IS NULL
      AND a.outcome IN ('unknown', 'lost_race'))
    AND NOT EXISTS (SELECT FROM shadow s WHERE s.sandbox = sandbox.id AND s.outcome = 'running')
    AND NOT EXISTS (SELECT FROM snapshot n WHERE n.sandbox = sandbox.id)
  ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED
), decisions AS (DELETE FROM decision d USING old WHERE d.id = old.decision
), attempts AS (DELETE FROM attempt a USING old WHERE a.sandbox = old.id
), shadows AS (DELETE FROM shadow s USING old WHERE s.sandbox = old.id
), ports AS (DELETE FROM port p USING old WHERE p.sandbox = old.id
), secrets AS (DELETE FROM sandbox_secret s USING old WHERE s.sandbox = old.id)
DELETE FROM sandbox s USING old WHERE s.id = old.id)sql";

}  // namespace

size_t forget_ended(pqxx::work& tx, std::chrono::hours age, int most) {
  return tx.exec_params(kForgetEnded, static_cast<int64_t>(age.count()), most).affected_rows();
}

}  // namespace sandgate::sandbox_rows
