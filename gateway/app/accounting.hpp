#pragma once
#include "billing/budget_store.hpp"
#include "billing/budgets.hpp"
#include "billing/invoices.hpp"
#include "billing/meter.hpp"
#include "billing/price_books.hpp"
#include "billing/usage_reader.hpp"
#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/exports/export_runner.hpp"
#include "gateway/exports/export_store.hpp"

namespace sandgate {

// What use costs and who may go on spending: prices, the meter, budgets, invoices and exports.
struct Accounting {
  explicit Accounting(Foundation& foundation);

  // Says what notifications are for; before they start.
  void subscribe();
  // Takes up what runs by itself.
  void start();
  // Reads the price books again, in the background.
  void reload();
  void render(MetricText& out) const;

  Foundation& foundation;
  PriceBooks prices;
  Meter meter;
  UsageReader usage;
  BudgetStore budget_rows;
  Budgets budgets;
  Invoices invoices;
  ExportStore export_rows;
  ExportRunner exports;
};

}  // namespace sandgate
