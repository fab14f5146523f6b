#include "gateway/exports/stripe.hpp"

#include <algorithm>

#include "billing/currency.hpp"
#include "billing/usage/meter_kind.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/decimal.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/percent.hpp"
#include "gateway/core/utf8.hpp"
#include "providers/kind_settings.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {
namespace {

constexpr const char* kStripeUrl = "https://api.stripe.com";
constexpr size_t kSendsAtOnce = 8;
constexpr int kValueDigits = 12;  // after the point
constexpr std::chrono::hours kOldest{35 * 24};
constexpr std::chrono::minutes kFurthestAhead{5};
constexpr size_t kMaxCustomers = 100'000;
constexpr size_t kMaxReasonBytes = 200;  // kept of each text in which a refusal says why

std::string form_field(std::string_view name, std::string_view value) {
  return std::string(name) + "=" + percent_encode(value);
}

// Rounding the running total instead of each event keeps the sum sent within half a step. Charges
// have no running total, so each is rounded.
std::string telescoped(const ExportEvent& event) {
  const Decimal before = Decimal::from_sql(event.quantity_before);
  const Decimal after = before + Decimal::from_sql(event.row.quantity);
  return (after.rounded(kValueDigits) - before.rounded(kValueDigits)).to_string();
}

// The result for one event.
struct Verdict {
  enum Kind { accepted, skipped, refused, later } kind = accepted;
  std::string reason;
  std::optional<std::chrono::seconds> retry_after;
};

Verdict later(std::string reason) { return {Verdict::later, std::move(reason), {}}; }

Verdict verdict_of(const HttpReply& reply) {
  if (reply.status >= 200 && reply.status < 300) return {};
  const Json document = Json::parse(reply.body, nullptr, false);
  std::string code, message;
  if (document.is_object() && document.contains("error") && document["error"].is_object()) {
    const Json& error = document["error"];
    const auto text = [&](const char* name) {
      if (!error.contains(name) || !error[name].is_string()) return std::string();
      const std::string_view all = error[name].get_ref<const std::string&>();
      // The database takes no part of a character.
      return std::string(without_cut_character(all.substr(0, kMaxReasonBytes)));
    };
    code = text("code");
    message = text("message");
  }
  // An earlier try was accepted.
  if (code == "duplicate_meter_event") return {};
  const std::string reason = std::to_string(reply.status) + " " + code + " " + message;
  Verdict verdict{is_transient(reply.status) ? Verdict::later : Verdict::refused, reason, {}};
  if (const auto wait = retry_after_of(reply.headers))
    verdict.retry_after = std::chrono::ceil<std::chrono::seconds>(*wait);
  return verdict;
}

class StripeExporter : public Exporter {
 public:
  explicit StripeExporter(ExporterParts parts) : parts_(std::move(parts)) {}

  Task<BatchResult> deliver(std::vector<ExportEvent> events) override {
    auto verdicts = std::make_shared<std::vector<Verdict>>(events.size(), later("not tried"));
    std::vector<size_t> indexes(events.size());
    for (size_t i = 0; i < indexes.size(); ++i) indexes[i] = i;
    // What comes after an event that has to be sent again is sent with it.
    bool stopped = false;
    auto send_one = [this, &events, &stopped, verdicts](size_t index) -> Task<void> {
      if (stopped) co_return;
      Verdict verdict = co_await send(events[index]);
      stopped = stopped || verdict.kind == Verdict::later;
      (*verdicts)[index] = std::move(verdict);
    };
    co_await for_each_concurrent(std::move(indexes), kSendsAtOnce, send_one);
    co_return summed(*verdicts);
  }

 private:
  static BatchResult summed(const std::vector<Verdict>& verdicts) {
    BatchResult result;
    for (const Verdict& verdict : verdicts) {
      if (verdict.kind == Verdict::later) {
        result.stopped = verdict.reason;
        result.retry_after = verdict.retry_after;
        break;
      }
      if (verdict.kind == Verdict::accepted) ++result.accepted;
      if (verdict.kind == Verdict::refused)
        result.refused.push_back({result.settled, verdict.reason});
      ++result.settled;
    }
    return result;
  }

  // The string under `name` in one of the settings' tables; empty: none.
  std::string mapped(const char* table, const std::string& name) const {
    const auto entries = parts_.settings.find(table);
    return entries == parts_.settings.end() ? "" : entries->value(name, "");
  }

  std::string base_url() const {
    std::string url = parts_.settings.value("url", kStripeUrl);
    while (url.ends_with('/')) url.pop_back();
    return url;
  }

  bool sends_charges() const { return parts_.settings.value("value", "quantity") == "charge"; }

  // Whether a charge is in another currency than those that are sent. Zero is the same in each.
  bool is_foreign(const UsageRow& row) const {
    const std::string currency = parts_.settings.value("currency", "");
    return sends_charges() && !currency.empty() && row.charge_currency != currency &&
           !Decimal::from_sql(row.charge).is_zero();
  }

  Task<Verdict> send(const ExportEvent& event) {
    const std::string customer = mapped("customers", event.row.tenant);
    const std::string meter = mapped("meters", event.row.meter);
    if (customer.empty() || meter.empty()) co_return Verdict{Verdict::skipped, "", {}};
    if (is_foreign(event.row))
      co_return Verdict{Verdict::refused, "charged in " + event.row.charge_currency, {}};
    const Time now = parts_.clock.now();
    if (event.row.interval_start < now - kOldest)
      co_return Verdict{Verdict::refused, "older than 35 days", {}};
    if (event.row.interval_start > now + kFurthestAhead)
      co_return later("the event lies more than 5 minutes ahead");
    auto calling = parts_.http.call(call_for(event, customer, meter));
    const auto outcome = co_await attempt(std::move(calling));
    if (const Error* error = std::get_if<Error>(&outcome)) co_return later(error->what());
    co_return verdict_of(std::get<HttpReply>(outcome));
  }

  HttpCall call_for(const ExportEvent& event, const std::string& customer,
                    const std::string& meter) const {
    const std::string value =
        sends_charges() ? Decimal::from_sql(event.row.charge).rounded(kValueDigits).to_string()
                        : telescoped(event);
    const auto seconds =
        std::chrono::floor<std::chrono::seconds>(event.row.interval_start).time_since_epoch();
    // Stable across retries, and without meaning to others. Not an Idempotency-Key: Stripe keeps a
    // failure under one, too, and repeats it for a day.
    const std::string identifier = sha256_hex(parts_.name + "/" + event.row.id);
    HttpCall call{.method = "POST",
                  .url = base_url() + "/v1/billing/meter_events",
                  .allow_private = parts_.settings.value("allow_private", false),
                  .peer = "the receiver"};
    call.headers = {{"Authorization", "Bearer " + parts_.secrets.at("api_key").reveal()},
                    {"Content-Type", "application/x-www-form-urlencoded"}};
    call.body = form_field("event_name", meter) + "&" +
                form_field("payload[stripe_customer_id]", customer) + "&" +
                form_field("payload[value]", value) + "&" + form_field("identifier", identifier) +
                "&" + form_field("timestamp", std::to_string(seconds.count()));
    return call;
  }

  ExporterParts parts_;
};

void validate_stripe(const Json& settings, const ExportSecrets& secrets, Problems& problems) {
  ObjectReader reader(settings, problems, "/settings");
  for (const char* required : {"customers", "meters"}) reader.require(required);
  const auto customers = reader.text_map("customers", kMaxCustomers, {.min = 1, .max = 255});
  for (const auto& [tenant, customer] : customers.value_or(std::map<std::string, std::string>()))
    if (!TenantId::parse(tenant))
      problems.add("/settings/customers/" + pointer_token(tenant), "is not a tenant's id");
  const auto meters = reader.text_map("meters", kMeterKinds.size(), {.min = 1, .max = 100});
  for (const auto& [meter, event] : meters.value_or(std::map<std::string, std::string>()))
    if (!meter_kind_from(meter))
      problems.add("/settings/meters/" + pointer_token(meter), "is not a meter");
  // The receiver adds up what it gets, whatever currency it was in.
  if (reader.word("value", {"quantity", "charge"}) == "charge") reader.require("currency");
  const auto currency = reader.text("currency", {.max = 8});
  if (currency && !minor_digits(*currency)) reader.problem("currency", kUnknownCurrency);
  read_base_url(reader, "url");
  reader.boolean("allow_private");
  reader.finish();
  const auto key = secrets.find("api_key");
  if (key == secrets.end())
    problems.add("/secrets/api_key", "is required");
  else if (!is_visible_ascii(key->second.reveal()))
    problems.add("/secrets/api_key", "must be visible ASCII, without spaces or line ends");
}

std::unique_ptr<Exporter> make_stripe(ExporterParts parts) {
  return std::make_unique<StripeExporter>(std::move(parts));
}

}  // namespace

ExportKind stripe_export_kind() { return {"stripe", validate_stripe, make_stripe}; }

}  // namespace sandgate
