#include "billing/invoices/invoice.hpp"

#include <algorithm>

#include "billing/csv.hpp"
#include "billing/currency.hpp"
#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

constexpr Words kInvoiceStateWords({Word{InvoiceState::draft, "draft"},
                                    Word{InvoiceState::issued, "issued"}});

Json to_json(const InvoiceLine& line, const Invoice& invoice) {
  Json json{{"meter", line.meter},
            {"deployment", line.deployment},
            {"profile", line.profile},
            {"quantity", line.quantity.to_string()},
            {"unit_price", line.unit_price.to_string()},
            {"amount_exact", line.amount_exact.to_string()},
            {"amount", money_text(line.amount, invoice)}};
  if (line.adjusts) json["adjusts"] = line.adjusts->value;
  return json;
}

}  // namespace

std::string money_text(const Decimal& amount, const Invoice& invoice) {
  return amount.to_fixed(minor_digits(invoice.currency).value_or(2));
}

std::string_view to_string(InvoiceState state) { return kInvoiceStateWords.of(state); }

Decimal Invoice::credited() const {
  Decimal sum;
  for (const InvoiceCredit& note : credit_notes) sum += note.amount;
  return sum;
}

Decimal Invoice::due() const { return std::max(total - credits_applied - credited(), Decimal()); }

Decimal Invoice::returned() const {
  return std::max(credits_applied + credited() - total, Decimal());
}

Json to_json(const Invoice& invoice) {
  Json lines = Json::array();
  for (const InvoiceLine& line : invoice.lines) lines.push_back(to_json(line, invoice));
  Json json{{"id", invoice.id.value},
            {"number", nullptr},
            {"state", to_string(invoice.state)},
            {"tenant", invoice.tenant.value},
            {"from", to_rfc3339(invoice.from)},
            {"to", to_rfc3339(invoice.to)},
            {"currency", invoice.currency},
            {"lines", std::move(lines)},
            {"total", money_text(invoice.total, invoice)},
            {"created_at", to_rfc3339(invoice.created_at)}};
  if (invoice.number) json["number"] = *invoice.number;
  if (!invoice.other_currencies.empty()) json["other_currencies"] = invoice.other_currencies;
  if (invoice.issued_at) {
    json["issued_at"] = to_rfc3339(*invoice.issued_at);
    json["credits_applied"] = money_text(invoice.credits_applied, invoice);
    json["returned"] = money_text(invoice.returned(), invoice);
    json["due"] = money_text(invoice.due(), invoice);
    for (const InvoiceCredit& note : invoice.credit_notes)
      json["credit_notes"].push_back({{"id", note.id},
                                      {"amount", money_text(note.amount, invoice)},
                                      {"reason", note.reason},
                                      {"created_at", to_rfc3339(note.created_at)}});
  }
  return json;
}

std::string to_csv(const Invoice& invoice) {
  std::string csv =
      "invoice,meter,deployment,profile,quantity,unit_price,amount_exact,amount,currency,"
      "adjusts,number,tenant,tenant_name,from,to,state,issued_at,total\r\n";
  for (const InvoiceLine& line : invoice.lines)
    csv += csv_row({invoice.id.value, line.meter, line.deployment, line.profile,
                    line.quantity.to_string(), line.unit_price.to_string(),
                    line.amount_exact.to_string(), money_text(line.amount, invoice),
                    invoice.currency, line.adjusts ? line.adjusts->value : "",
                    invoice.number ? std::to_string(*invoice.number) : "", invoice.tenant.value,
                    invoice.tenant_name, to_rfc3339(invoice.from), to_rfc3339(invoice.to),
                    std::string(to_string(invoice.state)),
                    invoice.issued_at ? to_rfc3339(*invoice.issued_at) : "",
                    money_text(invoice.total, invoice)});
  return csv;
}

}  // namespace sandgate
