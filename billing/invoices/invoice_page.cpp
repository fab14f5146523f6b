#include "billing/invoices/invoice_page.hpp"

#include <algorithm>

namespace sandgate {
namespace {

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

std::string with_breaks(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::string html = escaped(text);
  for (size_t at = 0; (at = html.find('\n', at)) != std::string::npos; at += 4)
    html.replace(at, 1, "<br>");
  return html;
}

std::string title_of(const Invoice& invoice) {
  if (invoice.state == InvoiceState::draft) return "Draft of invoice " + invoice.id.value;
  return "Invoice " + (invoice.number ? std::to_string(*invoice.number) : invoice.id.value);
}

std::string heading(const Invoice& invoice) {
  std::string html = "<h1>" + title_of(invoice) + "</h1>\n<p>";
  if (invoice.number) html += "Id " + invoice.id.value + "<br>";
  html += "For " + escaped(invoice.tenant_name) + " (tenant " + escaped(invoice.tenant.value) +
          ")<br>From " + to_rfc3339(invoice.from) + " to " + to_rfc3339(invoice.to) +
          "<br>State: " + std::string(to_string(invoice.state));
  if (invoice.issued_at) html += ", " + to_rfc3339(*invoice.issued_at);
  return html + "</p>\n";
}

bool is_by_unit(const InvoiceLine& line) {
  return line.quantity * line.unit_price == line.amount_exact;
}

std::string invoice_lines(const Invoice& invoice) {
  std::string html = "<table>\n" + table_row({"Meter", "Deployment", "Profile", "Quantity",
                                              "Unit price", "Exact", "Amount"},
                                             "th");
  for (const InvoiceLine& line : invoice.lines)
    html += table_row(
        {line.meter + (line.adjusts ? " (late, " + line.adjusts->value + ")" : ""), line.deployment,
         line.profile, line.quantity.to_string(), line.unit_price.to_string(),
         line.amount_exact.to_string() + (is_by_unit(line) ? "" : " *"),
         money_text(line.amount, invoice)},
        "td");
  html += "</table>\n";
  if (!std::all_of(invoice.lines.begin(), invoice.lines.end(), is_by_unit))
    html +=
        "<p>* Not quantity times unit price: a minimum, a rounding or included units of the price "
        "count for each sandbox.</p>\n";
  return html;
}

std::string invoice_sums(const Invoice& invoice) {
  const auto amount = [&](const Decimal& sum) { return money_text(sum, invoice); };
  const std::string currency = " " + escaped(invoice.currency);
  std::string html = "<p><strong>Total " + amount(invoice.total) + currency + "</strong></p>\n";
  if (!invoice.credits_applied.is_zero())
    html += "<p>Paid from credits " + amount(invoice.credits_applied) + "</p>\n";
  for (const InvoiceCredit& note : invoice.credit_notes)
    html += "<p>Taken back " + amount(note.amount) + ", " + to_rfc3339(note.created_at) + ", " +
            note.id + ": " + escaped(note.reason) + "</p>\n";
  if (!invoice.returned().is_zero())
    html += "<p>Of what was taken back, " + amount(invoice.returned()) +
            " had been paid and went to the prepaid balance</p>\n";
  if (invoice.issued_at)
    html += "<p><strong>Due " + amount(invoice.due()) + currency + "</strong></p>\n";
  return html;
}

}  // namespace

std::string to_html(const Invoice& invoice, const std::string& issuer) {
  std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                     title_of(invoice) + "</title><style>" + std::string(kStyle) +
                     "</style></head>\n<body>";
  if (!issuer.empty()) html += "<p>" + with_breaks(issuer) + "</p>\n";
  return html + heading(invoice) + invoice_lines(invoice) + invoice_sums(invoice) +
         "</body></html>\n";
}

}  // namespace sandgate
