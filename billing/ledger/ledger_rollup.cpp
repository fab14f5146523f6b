#include "billing/ledger/ledger_rollup.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kRollupTimeout{30};

}  // namespace

Task<size_t> roll_up_ledger(Database& database, int64_t most) {
  auto work = [most](pqxx::work& tx) {
    return tx.exec_params1("SELECT close_ledger($1)", most)[0].as<size_t>();
  };
  co_return co_await database.run_within(kRollupTimeout, std::move(work));
}

}  // namespace sandgate
