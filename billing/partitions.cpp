#include "billing/partitions.hpp"

#include "gateway/core/time.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kPartitionPatience{5};

}  // namespace

Task<int> create_usage_partitions(Database& database, int months_ahead) {
  auto work = [months_ahead](pqxx::work& tx) {
    return tx.exec_params1("SELECT create_usage_partitions($1)", months_ahead)[0].as<int>();
  };
  co_return co_await database.run_within(kPartitionPatience, std::move(work));
}

Task<std::vector<std::string>> detach_usage_partitions(Database& database,
                                                       std::chrono::year_month_day keep_from) {
  const std::string day = to_rfc3339(Time(std::chrono::sys_days(keep_from))).substr(0, 10);
  auto work = [day](pqxx::work& tx) {
    std::vector<std::string> names;
    for (const auto& row : tx.exec_params("SELECT detach_usage_partitions($1::date)", day))
      names.push_back(row[0].as<std::string>());
    return names;
  };
  co_return co_await database.run_within(kPartitionPatience, std::move(work));
}

}  // namespace sandgate
