#include "billing/prices/price_book.hpp"

#include <set>
#include <tuple>

#include "billing/currency.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/moment.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxEntries = 10'000;
constexpr int64_t kMaxMarkupPercent = 100'000;
constexpr int64_t kMaxNumber = 1'000'000'000'000;  // of money or units, as in budgets

constexpr Words kPriceKindWords({Word{PriceKind::cost, "cost"}, Word{PriceKind::charge, "charge"}});

std::optional<Decimal> read_decimal(ObjectReader& reader, std::string_view name, int64_t max) {
  const auto text = reader.text(name, {.min = 1, .max = 64});
  if (!text) return std::nullopt;
  const auto value = Decimal::parse(*text);
  if (!value)
    reader.problem(
        name,
        "must be a decimal as a string, such as \"0.0504\", not negative and with at most"
        " 18 digits on either side of the point");
  else if (*value > Decimal(max))
    reader.problem(name, "must be at most " + std::to_string(max));
  else
    return value;
  return std::nullopt;
}

PriceTerms read_terms(ObjectReader& reader) {
  PriceTerms terms;
  reader.require("unit_price");
  terms.unit_price = read_decimal(reader, "unit_price", kMaxNumber).value_or(Decimal());
  terms.minimum = read_decimal(reader, "minimum", kMaxNumber);
  terms.rounding = read_decimal(reader, "rounding", kMaxNumber);
  terms.included = read_decimal(reader, "included", kMaxNumber);
  if (terms.rounding && terms.rounding->is_zero())
    reader.problem("rounding", "must be more than zero");
  return terms;
}

PriceEntry read_entry(const Json& value, Problems& problems, const std::string& path) {
  ObjectReader reader(value, problems, path);
  PriceEntry entry;
  reader.require("provider");
  entry.provider = reader.text("provider", {.min = 1, .max = 64}).value_or("");
  entry.deployment = reader.text("deployment", {.min = 1, .max = 64}).value_or("");
  entry.region = reader.text("region", {.min = 1, .max = 64}).value_or("");
  entry.source = reader.text("source", {.max = 500}).value_or("");
  reader.require("meter");
  if (const auto name = reader.text("meter", {.max = 64})) {
    const auto meter = meter_kind_from(*name);
    if (!meter) reader.problem("meter", "is not a meter");
    entry.meter = meter.value_or(MeterKind::vcpu_second);
  }
  entry.terms = read_terms(reader);
  reader.finish();
  return entry;
}

std::vector<PriceEntry> read_entries(ObjectReader& reader, Problems& problems) {
  std::vector<PriceEntry> entries;
  const Json* list = reader.array("entries", kMaxEntries);
  if (!list) return entries;
  std::set<std::tuple<std::string, std::string, std::string, MeterKind>> seen;
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = reader.path_of("entries") + "/" + std::to_string(i);
    PriceEntry entry = read_entry((*list)[i], problems, path);
    if (!seen.emplace(entry.provider, entry.deployment, entry.region, entry.meter).second)
      problems.add(path, "prices the same thing as an entry before it");
    entries.push_back(std::move(entry));
  }
  return entries;
}

void read_charge_terms(ObjectReader& reader, PriceVersion& version) {
  version.tenant = reader.text("tenant", {.min = 1, .max = 64}).value_or("");
  version.markup_percent = read_decimal(reader, "markup_percent", kMaxMarkupPercent);
  if (!version.tenant.empty() && !TenantId::parse(version.tenant))
    reader.problem("tenant", "is not a tenant's id");
  if (version.kind == PriceKind::charge) return;
  if (reader.has("tenant")) reader.problem("tenant", "is only for a book of kind charge");
  if (reader.has("markup_percent"))
    reader.problem("markup_percent", "is only for a book of kind charge");
}

}  // namespace

std::string_view to_string(PriceKind kind) { return kPriceKindWords.of(kind); }

PriceVersion price_version_from(const Json& body, const std::string& book) {
  DocumentReader reader(body);
  PriceVersion version{.book = book};
  for (const std::string_view name : {"kind", "currency", "effective_from"}) reader.require(name);
  version.kind = reader.word("kind", kPriceKindWords).value_or(version.kind);
  version.currency = reader.text("currency", {.max = 8}).value_or("");
  if (reader.has("currency") && !minor_digits(version.currency))
    reader.problem("currency", kUnknownCurrency);
  version.effective_from = read_moment(reader, "effective_from").value_or(Time());
  read_charge_terms(reader, version);
  version.entries = read_entries(reader, reader.problems());
  const Json* entries = reader.any("entries");
  const bool none = !entries || (entries->is_array() && entries->empty());
  if (none && !reader.has("markup_percent"))
    reader.problem("entries", "is required, and not empty, without a markup");
  reader.finish_or_throw();
  return version;
}

Json to_json(const PriceVersion& version) {
  Json entries = Json::array();
  for (const PriceEntry& entry : version.entries) {
    Json item{{"provider", entry.provider},
              {"meter", to_string(entry.meter)},
              {"unit_price", entry.terms.unit_price.to_string()}};
    if (!entry.deployment.empty()) item["deployment"] = entry.deployment;
    if (!entry.region.empty()) item["region"] = entry.region;
    if (entry.terms.minimum) item["minimum"] = entry.terms.minimum->to_string();
    if (entry.terms.rounding) item["rounding"] = entry.terms.rounding->to_string();
    if (entry.terms.included) item["included"] = entry.terms.included->to_string();
    if (!entry.source.empty()) item["source"] = entry.source;
    entries.push_back(std::move(item));
  }
  Json json{{"book", version.book},
            {"version", version.version},
            {"kind", to_string(version.kind)},
            {"currency", version.currency},
            {"effective_from", to_rfc3339(version.effective_from)},
            {"created_at", to_rfc3339(version.created_at)},
            {"entries", std::move(entries)}};
  if (!version.tenant.empty()) json["tenant"] = version.tenant;
  if (version.markup_percent) json["markup_percent"] = version.markup_percent->to_string();
  return json;
}

}  // namespace sandgate
