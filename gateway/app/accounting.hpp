#pragma once
#include "billing/budgets/budget_store.hpp"
#include "billing/budgets/budgets.hpp"
#include "billing/invoices/invoices.hpp"
#include "billing/prices/price_books.hpp"
#include "billing/usage/meter.hpp"
#include "billing/usage/usage_reader.hpp"
#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/exports/export_runner.hpp"
#include "gateway/exports/export_store.hpp"

namespace sandgate {

// The billing part of the gateway: prices, the usage meter, budgets, invoices and exports.
struct Accounting {
  explicit Accounting(Foundation& foundation);

  // Registers notification handlers. Call before notifications start.
  void subscribe();
  // Starts background work.
  void start();
  // Reloads the price books in the background.
  void reload();
  void render(MetricText& out) const;

  Foundation& foundation;
  PriceBooks prices;
  Meter meter;
  UsageReader usage;
  Budgets budgets;
  BudgetStore budget_rows;
  Invoices invoices;
  ExportStore export_rows;
  ExportRunner exports;
};

}  // namespace sandgate
