#include "billing/ledger/reconciliation.hpp"

#include <algorithm>

#include "billing/csv.hpp"
#include "billing/currency.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/moment.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxLines = 100'000;
constexpr std::chrono::minutes kReportTimeout{2};

Decimal read_amount(ObjectReader& reader, std::string_view name) {
  reader.require(name);
  const auto text = reader.text(name, {.min = 1, .max = 256});
  const auto value = text ? Decimal::parse_printed(*text) : std::nullopt;
  if (text && !value)
    reader.problem(name, "must be a decimal as a string, such as \"12.5\", with at most " +
                             std::to_string(Decimal::kMaxPrinted) +
                             " digits on either side of the point");
  return value.value_or(Decimal());
}

VendorLine vendor_line_from(const Json& item, Problems& problems, const std::string& path) {
  ObjectReader reader(item, problems, path);
  VendorLine line;
  line.sandbox = reader.text("sandbox", {.max = 128}).value_or("");
  reader.require("meter");
  if (const auto name = reader.text("meter", {.max = 64})) {
    const auto meter = meter_kind_from(*name);
    if (!meter) reader.problem("meter", "is not a meter");
    line.meter = meter.value_or(MeterKind::vcpu_second);
  }
  line.quantity = read_amount(reader, "quantity");
  line.amount = read_amount(reader, "amount");
  reader.finish();
  return line;
}

bool is_vendor_column(std::string_view name) {
  static constexpr std::string_view kColumns[] = {"sandbox", "meter", "quantity", "amount"};
  return std::ranges::find(kColumns, name) != std::end(kColumns);
}

// Columns that nothing is read from may share a name.
void check_columns(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (is_vendor_column(name) && std::ranges::count(names, name) > 1)
      throw Error::invalid("", "the first row names the column '" + name + "' twice: leave one");
}

// A number with commas that is not quoted would be read up to the first of them.
void check_length(const std::vector<std::string>& row, size_t columns, size_t line) {
  for (size_t i = columns; i < row.size(); ++i)
    if (!row[i].empty())
      throw Error::invalid("/lines/" + std::to_string(line),
                           "has more fields than the first row has names: what has commas in it "
                           "has to be quoted, and numbers have to be without them");
}

Json to_json(const Tally& ours, const Tally& theirs) {
  return {{"ours", ours.amount.to_string()},
          {"theirs", theirs.amount.to_string()},
          {"difference", (theirs.amount - ours.amount).to_string()},
          {"loss", ours.loss.to_string()},
          {"quantity",
           {{"ours", ours.quantity.to_string()},
            {"theirs", theirs.quantity.to_string()},
            {"difference", (theirs.quantity - ours.quantity).to_string()}}}};
}

struct Booked {
  Tallies tallies;
  std::string currency;
  std::set<std::string> others;  // currencies that were left out
};

// The currencies of rows whose cost is not zero.
std::set<std::string> currencies_in(const pqxx::result& rows) {
  std::set<std::string> seen;
  for (const auto& row : rows)
    if (!Decimal::from_sql(row["cost"].c_str()).is_zero())
      seen.insert(row["cost_currency"].as<std::string>());
  return seen;
}

// Sums what is booked: per sandbox for meters that the vendor breaks down, else as a whole.
Booked booked(pqxx::work& tx, const VendorReport& report) {
  std::map<std::string, bool> broken_down;
  for (const VendorLine& line : report.lines)
    broken_down[std::string(to_string(line.meter))] |= !line.sandbox.empty();
  const auto rows = tx.exec_params(
      "SELECT sandbox, meter, cost_currency, sum(quantity) AS quantity,"
      " sum(cost) AS cost, sum(loss) AS loss FROM ("
      "  SELECT sandbox, meter, cost_currency, quantity, cost, 0 AS loss"
      "  FROM usage_event e"
      "  WHERE NOT EXISTS (SELECT FROM metered_sandbox m"
      "    WHERE m.sandbox = e.sandbox AND m.own) AND deployment = $1 AND "
      "interval_start >= $2::timestamptz"
      "  AND interval_start < $3::timestamptz UNION ALL"
      "  SELECT sandbox, meter, cost_currency, quantity, cost, cost FROM loss_event"
      "  WHERE deployment = $1 AND interval_start >= $2::timestamptz"
      "  AND interval_start < $3::timestamptz) booked GROUP BY 1, 2, 3",
      report.deployment, to_rfc3339(report.from), to_rfc3339(report.to));
  Booked found{.others = currencies_in(rows)};
  found.currency = report_currency(report.currency, found.others);
  found.others.erase(found.currency);
  for (const auto& row : rows) {
    const auto meter = row["meter"].as<std::string>();
    const auto cost = Decimal::from_sql(row["cost"].c_str());
    const auto reported = broken_down.find(meter);
    const bool is_reported = reported != broken_down.end();
    if (cost.is_zero() ? !is_reported : row["cost_currency"].as<std::string>() != found.currency)
      continue;
    const auto sandbox =
        is_reported && reported->second ? row["sandbox"].as<std::string>() : std::string();
    Tally& tally = found.tallies[{sandbox, meter}];
    tally.quantity += Decimal::from_sql(row["quantity"].c_str());
    tally.amount += cost;
    tally.loss += Decimal::from_sql(row["loss"].c_str());
  }
  return found;
}

}  // namespace

VendorReport vendor_report_from(const Json& body) {
  DocumentReader reader(body);
  VendorReport report;
  for (const std::string_view name : {"deployment", "period", "lines"}) reader.require(name);
  report.deployment = reader.text("deployment", {.min = 1, .max = 64}).value_or("");
  if (const auto text = reader.text("period", {.max = 16})) {
    const auto month = month_from(*text);
    if (!month) reader.problem("period", kMonthRule);
    if (month) std::tie(report.from, report.to) = *month;
  }
  report.currency = reader.text("currency", {.max = 3});
  if (report.currency && !minor_digits(*report.currency))
    reader.problem("currency", kUnknownCurrency);
  if (const Json* lines = reader.array("lines", kMaxLines))
    for (size_t i = 0; i < lines->size(); ++i)
      report.lines.push_back(
          vendor_line_from((*lines)[i], reader.problems(), "/lines/" + std::to_string(i)));
  reader.finish_or_throw();
  return report;
}

VendorReport vendor_report_from_csv(std::string_view text, const std::string& deployment,
                                    const std::string& period,
                                    const std::optional<std::string>& currency) {
  const auto rows = read_csv(text);
  if (rows.empty()) throw Error::invalid("", "the first row has to name the columns");
  check_columns(rows[0]);
  Json lines = Json::array();
  for (size_t i = 1; i < rows.size(); ++i) {
    check_length(rows[i], rows[0].size(), i - 1);
    Json line = Json::object();
    for (size_t column = 0; column < std::min(rows[i].size(), rows[0].size()); ++column) {
      const auto& [name, value] = std::tie(rows[0][column], rows[i][column]);
      if (!is_vendor_column(name) || value.empty()) continue;
      if (!is_utf8(value))
        throw Error::invalid("/lines/" + std::to_string(i - 1) + "/" + name, "must be UTF-8");
      line[name] = value;
    }
    lines.push_back(std::move(line));
  }
  Json body{{"deployment", deployment}, {"period", period}, {"lines", std::move(lines)}};
  if (currency) body["currency"] = *currency;
  return vendor_report_from(body);
}

Json compare(const Tallies& ours, const VendorReport& report) {
  Tallies theirs;
  for (const VendorLine& line : report.lines) {
    Tally& tally = theirs[{line.sandbox, std::string(to_string(line.meter))}];
    tally.quantity += line.quantity;
    tally.amount += line.amount;
  }
  Tallies all = ours;
  all.insert(theirs.begin(), theirs.end());
  Json items = Json::array();
  Tally our_total, their_total;
  for (const auto& [key, unused] : all) {
    const Tally mine = ours.contains(key) ? ours.at(key) : Tally();
    const Tally other = theirs.contains(key) ? theirs.at(key) : Tally();
    our_total.amount += mine.amount;
    our_total.loss += mine.loss;
    their_total.amount += other.amount;
    Json item = to_json(mine, other);
    item["sandbox"] = key.first.empty() ? Json() : Json(key.first);
    item["meter"] = key.second;
    items.push_back(std::move(item));
  }
  Json total = to_json(our_total, their_total);
  total.erase("quantity");  // of different meters: no sum
  return {{"deployment", report.deployment},
          {"from", to_rfc3339(report.from)},
          {"to", to_rfc3339(report.to)},
          {"items", std::move(items)},
          {"total", std::move(total)}};
}

Task<bool> was_metered(Database& database, std::string deployment) {
  auto work = [deployment](pqxx::work& tx) {
    return !tx.exec_params("SELECT FROM usage_rollup WHERE deployment = $1 LIMIT 1", deployment)
                .empty();
  };
  co_return co_await database.report(kReportTimeout, std::move(work));
}

Task<Json> reconcile(Database& database, VendorReport report) {
  auto work = [report](pqxx::work& tx) {
    const Booked ours = booked(tx, report);
    Json answer = compare(ours.tallies, report);
    answer["currency"] = ours.currency;
    if (!ours.others.empty()) answer["other_currencies"] = ours.others;
    tx.exec_params(
        "INSERT INTO reconciliation (deployment, period_from, period_to, report)"
        " VALUES ($1, $2::timestamptz, $3::timestamptz, $4)",
        report.deployment, to_rfc3339(report.from), to_rfc3339(report.to), answer.dump());
    return answer;
  };
  co_return co_await database.report(kReportTimeout, std::move(work));
}

}  // namespace sandgate
