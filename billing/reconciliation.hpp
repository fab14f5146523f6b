#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "billing/meter_kind.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// What a vendor reports or bills for one meter, of one sandbox or of all.
struct VendorLine {
  std::string sandbox;  // empty: of all
  MeterKind meter = MeterKind::vcpu_second;
  Decimal quantity, amount;
};

struct VendorReport {
  std::string deployment;
  Time from, to;
  std::vector<VendorLine> lines;
};

// Reads the body of POST /v1/reconciliations. Throws Error(invalid).
VendorReport vendor_report_from(const Json& body);
// The same from CSV: its first row names the columns meter, quantity, amount and perhaps sandbox;
// what others hold is left out. Paths count lines as the JSON's do, from 0.
VendorReport vendor_report_from_csv(std::string_view text, const std::string& deployment,
                                    const std::string& period);

// Quantity and cost, of one side.
struct Tally {
  Decimal quantity, amount;
  Decimal loss;  // the part of the amount that no tenant pays
};
// By sandbox ("" for all) and meter.
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;

// Compares, as the API answers it: theirs minus ours. Pure. Sandboxes that one side lacks are in.
Json compare(const Tallies& ours, const VendorReport& theirs);

// Whether anything was ever booked of it.
Task<bool> was_metered(Database& database, std::string deployment);

// Compares with what was booked and keeps the answer.
Task<Json> reconcile(Database& database, VendorReport report);

}  // namespace sandgate
