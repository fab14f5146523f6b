#include "billing/usage/partitions.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kPartitionTimeout{5};

}  // namespace

Task<int> create_usage_partitions(Database& database, int months_ahead) {
  auto work = [months_ahead](pqxx::work& tx) {
    return tx.exec_params1("SELECT create_usage_partitions($1)", months_ahead)[0].as<int>();
  };
  co_return co_await database.run_within(kPartitionTimeout, std::move(work));
}

}  // namespace sandgate
