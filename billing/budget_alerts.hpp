#pragma once
#include <functional>
#include <string>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// A budget has something to say: once per window and threshold.
struct BudgetAlert {
  int64_t id = 0;  // for ever the same
  TenantId tenant;
  std::string type;  // budget.alert, budget.exceeded
  Json data;  // {budget, threshold, spent, amount, currency}
  Time at;
};

// Passes on what budgets have to say. Any number of replicas may: each alert reaches the sink in
// one committed transaction, which the sink may use to write an event of its own.
class BudgetAlerts {
 public:
  using Sink = std::function<void(pqxx::work& tx, const BudgetAlert& alert)>;
  static constexpr const char* kChannel = "budget_events";  // told of when there is one

  BudgetAlerts(Database& database, Sink sink) : database_(database), sink_(std::move(sink)) {}

  // In order; returns how many.
  Task<size_t> pass_on();

 private:
  Database& database_;
  Sink sink_;
};

}  // namespace sandgate
