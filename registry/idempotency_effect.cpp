#include "registry/idempotency_effect.hpp"

#include "gateway/core/error.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

void check_held(const pqxx::result& marked) {
  if (marked.affected_rows() == 0)
    throw Error(ErrorCode::conflict, "a retry of this request has taken it over");
}

}  // namespace

void mark_effect(pqxx::work& tx, const std::string& claim, const std::string& made) {
  if (claim.empty()) return;
  check_held(run_prepared(
      tx, "UPDATE idempotent_call SET effect = $2 WHERE owner = $1 AND state = 'running'", claim,
      made));
}

void add_effect(pqxx::work& tx, const std::string& claim, const std::string& made) {
  if (claim.empty()) return;
  check_held(run_prepared(tx,
                          "UPDATE idempotent_call SET effect = concat_ws(' ', effect, $2::text)"
                          " WHERE owner = $1 AND state = 'running'",
                          claim, made));
}

void clear_effect(pqxx::work& tx, const std::string& claim) {
  run_prepared(
      tx, "UPDATE idempotent_call SET effect = NULL WHERE owner = $1 AND state = 'running'", claim);
}

}  // namespace sandgate
