#include "registry/call_claim.hpp"

#include "gateway/core/error.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {

void mark_effect(pqxx::work& tx, const std::string& claim, const std::string& made) {
  if (claim.empty()) return;
  const auto marked = run_prepared(
      tx, "UPDATE idempotent_call SET effect = $2 WHERE owner = $1 AND state = 'running'", claim,
      made);
  if (marked.affected_rows() == 0)
    throw Error(ErrorCode::conflict, "a retry of this request has taken it over");
}

}  // namespace sandgate
