#include "billing/invoice.hpp"

#include <algorithm>

#include "billing/currency.hpp"
#include "billing/usage_export.hpp"

namespace sandgate {
namespace {

std::string money(const Decimal& amount, const Invoice& invoice) {
  return amount.to_fixed(minor_digits(invoice.currency).value_or(2));
}

Json to_json(const InvoiceLine& line, const Invoice& invoice) {
  Json json{{"meter", line.meter},
            {"deployment", line.deployment},
            {"profile", line.profile},
            {"quantity", line.quantity.to_string()},
            {"unit_price", line.unit_price.to_string()},
            {"amount_exact", line.amount_exact.to_string()},
            {"amount", money(line.amount, invoice)}};
  if (line.adjusts) json["adjusts"] = line.adjusts->value;
  return json;
}

std::string escaped(std::string_view text) {
  std::string html;
  for (char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string table_row(const std::vector<std::string>& cells, std::string_view tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells)
    row.append("<")
        .append(tag)
        .append(">")
        .append(escaped(cell))
        .append("</")
        .append(tag)
        .append(">");
  return row + "</tr>\n";
}

constexpr std::string_view kStyle =
    "body{font:14px/1.5 sans-serif;max-width:60em;margin:2em auto}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em .6em;"
    "border-bottom:1px solid #ccc}td:nth-child(n+4),th:nth-child(n+4){text-align:right}";

}  // namespace

std::string_view to_string(InvoiceState state) {
  return state == InvoiceState::draft ? "draft" : "issued";
}

Decimal Invoice::credited() const {
  Decimal sum;
  for (const InvoiceCredit& note : credit_notes) sum += note.amount;
  return sum;
}

Decimal Invoice::due() const { return std::max(total - credits_applied - credited(), Decimal()); }

Json to_json(const Invoice& invoice) {
  Json lines = Json::array();
  for (const InvoiceLine& line : invoice.lines) lines.push_back(to_json(line, invoice));
  Json json{{"id", invoice.id.value},
            {"state", to_string(invoice.state)},
            {"tenant", invoice.tenant.value},
            {"from", to_rfc3339(invoice.from)},
            {"to", to_rfc3339(invoice.to)},
            {"currency", invoice.currency},
            {"lines", std::move(lines)},
            {"total", money(invoice.total, invoice)},
            {"created_at", to_rfc3339(invoice.created_at)}};
  if (!invoice.other_currencies.empty()) json["other_currencies"] = invoice.other_currencies;
  if (invoice.issued_at) {
    json["issued_at"] = to_rfc3339(*invoice.issued_at);
    json["credits_applied"] = money(invoice.credits_applied, invoice);
    json["due"] = money(invoice.due(), invoice);
    for (const InvoiceCredit& note : invoice.credit_notes)
      json["credit_notes"].push_back({{"id", note.id},
                                      {"amount", money(note.amount, invoice)},
                                      {"reason", note.reason},
                                      {"created_at", to_rfc3339(note.created_at)}});
  }
  return json;
}

std::string to_csv(const Invoice& invoice) {
  std::string csv =
      "invoice,meter,deployment,profile,quantity,unit_price,amount_exact,amount,currency,"
      "adjusts\r\n";
  for (const InvoiceLine& line : invoice.lines) {
    const std::vector<std::string> fields{invoice.id.value,
                                          line.meter,
                                          line.deployment,
                                          line.profile,
                                          line.quantity.to_string(),
                                          line.unit_price.to_string(),
                                          line.amount_exact.to_string(),
                                          money(line.amount, invoice),
                                          invoice.currency,
                                          line.adjusts ? line.adjusts->value : ""};
    for (size_t i = 0; i < fields.size(); ++i) csv += (i ? "," : "") + csv_field(fields[i]);
    csv += "\r\n";
  }
  return csv;
}

std::string to_html(const Invoice& invoice) {
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>";
  html += "Invoice " + invoice.id.value + "</title><style>" + std::string(kStyle) +
          "</style></head>\n<body><h1>Invoice " + invoice.id.value + "</h1>\n<p>Tenant " +
          escaped(invoice.tenant.value) + "<br>From " + to_rfc3339(invoice.from) + " to " +
          to_rfc3339(invoice.to) + "<br>State: " + std::string(to_string(invoice.state));
  if (invoice.issued_at) html += ", " + to_rfc3339(*invoice.issued_at);
  html += "</p>\n<table>\n" +
          table_row({"Meter", "Deployment", "Profile", "Quantity", "Unit price", "Exact", "Amount"},
                    "th");
  for (const InvoiceLine& line : invoice.lines)
    html += table_row(
        {line.meter + (line.adjusts ? " (late, " + line.adjusts->value + ")" : ""), line.deployment,
         line.profile, line.quantity.to_string(), line.unit_price.to_string(),
         line.amount_exact.to_string(), money(line.amount, invoice)},
        "td");
  html += "</table>\n<p><strong>Total " + money(invoice.total, invoice) + " " +
          escaped(invoice.currency) + "</strong></p>\n";
  if (!invoice.credits_applied.is_zero())
    html += "<p>Paid from credits " + money(invoice.credits_applied, invoice) + "</p>\n";
  for (const InvoiceCredit& note : invoice.credit_notes)
    html += "<p>Taken back " + money(note.amount, invoice) + ", " + to_rfc3339(note.created_at) +
            ", " + note.id + ": " + escaped(note.reason) + "</p>\n";
  if (invoice.issued_at)
    html += "<p><strong>Due " + money(invoice.due(), invoice) + " " + escaped(invoice.currency) +
            "</strong></p>\n";
  return html + "</body></html>\n";
}

std::optional<std::pair<Time, Time>> month_from(std::string_view text) {
  if (text.size() != 7) return std::nullopt;
  const auto first = from_rfc3339(std::string(text) + "-01T00:00:00Z");
  if (!first) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(*first));
  const auto next = day.year() / day.month() / 1 + std::chrono::months(1);
  if (next.year() > std::chrono::year(9999)) return std::nullopt;  // RFC 3339 cannot write its end
  return std::pair(*first, Time(std::chrono::sys_days(next)));
}

}  // namespace sandgate
