#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billing/usage/meter_kind.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// A line of a vendor's report or bill: one meter, of one sandbox or of all.
struct VendorLine {
  std::string sandbox;  // empty: of all
  MeterKind meter = MeterKind::vcpu_second;
  Decimal quantity, amount;
};

struct VendorReport {
  std::string deployment;
  Time from, to;
  std::optional<std::string> currency;  // of the lines' amounts; default: see reconcile()
  std::vector<VendorLine> lines;
};

// Reads the body of POST /v1/reconciliations. Throws Error(invalid).
VendorReport vendor_report_from(const Json& body);
// The same from CSV, whose first row names the columns meter, quantity, amount and perhaps sandbox;
// other columns are ignored. A row may be shorter than the first, but longer only by empty fields.
// Paths count data rows from 0, as they count the JSON's lines.
VendorReport vendor_report_from_csv(std::string_view text, const std::string& deployment,
                                    const std::string& period,
                                    const std::optional<std::string>& currency = std::nullopt);

// Quantity and cost of one side.
struct Tally {
  Decimal quantity, amount;
  Decimal loss;  // the part of the amount that no tenant pays
};
// By sandbox ("" for all) and meter.
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;

// The comparison that the API returns; differences are theirs minus ours. Sandboxes that only one
// side has are included. Pure.
Json compare(const Tallies& ours, const VendorReport& theirs);

// Whether usage of the deployment was ever booked.
Task<bool> was_metered(Database& database, std::string deployment);

// Compares the report with what is booked, and stores the result. Amounts are in one currency: the
// report's, else as report_currency() says; `other_currencies` names those left out.
Task<Json> reconcile(Database& database, VendorReport report);

}  // namespace sandgate
