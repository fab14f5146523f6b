#include "billing/invoices/invoice_rows.hpp"

#include "billing/currency.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

// Late usage: booked after the last issued invoice in the currency, in the period of one.
const std::string kLate = R"sql(
FROM invoice i JOIN usage_event e ON e.tenant = i.tenant
  AND e.charge_currency = i.currency AND e.interval_start >= i.period_from
  AND e.interval_start < i.period_to
  AND e.sequence > (SELECT max(through_sequence) FROM invoice
    WHERE tenant = $1 AND currency = $2 AND state = 'issued')
WHERE i.tenant = $1 AND i.currency = $2 AND i.state = 'issued')sql";

const std::string kLines = R"sql(
SELECT used.adjusts, used.meter, used.deployment, used.profile,
  coalesce(charged.unit_price, cost.unit_price * (1 + coalesce(markup.markup_percent, 0) * 0.01), 0)
    AS unit_price,
  sum(used.quantity) AS quantity, sum(used.charge) AS amount_exact
FROM (
  SELECT NULL::text AS adjusts, e.* FROM usage_event e
  WHERE e.tenant = $1 AND e.charge_currency = $2 AND e.sequence <= $5
    AND e.interval_start >= $3::timestamptz AND e.interval_start < $4::timestamptz
  UNION ALL
  SELECT i.id, e.*)sql" + kLate +
                           R"sql( AND e.sequence <= $5
) used
LEFT JOIN price_entry charged ON charged.id = used.charge_entry
LEFT JOIN price_entry cost ON cost.id = used.cost_entry
LEFT JOIN price_version markup ON markup.id = used.markup_version
GROUP BY 1, 2, 3, 4, 5 HAVING sum(used.charge) <> 0
ORDER BY 1 NULLS FIRST, 2, 3, 4, 5)sql";

constexpr const char* kInvoiceColumns =
    "id, number, tenant, coalesce(tenant_name, (SELECT name FROM tenant t WHERE t.id ="
    " invoice.tenant), '') AS tenant_name, currency, state, total, credits_applied + (SELECT "
    "coalesce(sum(amount), 0)"
    " FROM invoice_payment p WHERE p.invoice = invoice.id) AS credits_applied,"
    " to_json(other_currencies) AS other_currencies,"
    " (extract(epoch FROM period_from) * 1000000)::bigint AS from_micros,"
    " (extract(epoch FROM period_to) * 1000000)::bigint AS to_micros,"
    " (extract(epoch FROM created_at) * 1000000)::bigint AS created_micros,"
    " (extract(epoch FROM issued_at) * 1000000)::bigint AS issued_micros";

Invoice invoice_from(const pqxx::row& row) {
  Invoice invoice{.id = InvoiceId{row["id"].as<std::string>()},
                  .tenant = TenantId{row["tenant"].as<std::string>()},
                  .tenant_name = row["tenant_name"].as<std::string>(),
                  .from = from_micros(row["from_micros"].as<int64_t>()),
                  .to = from_micros(row["to_micros"].as<int64_t>()),
                  .currency = row["currency"].as<std::string>(),
                  .total = Decimal::from_sql(row["total"].c_str()),
                  .credits_applied = Decimal::from_sql(row["credits_applied"].c_str()),
                  .created_at = from_micros(row["created_micros"].as<int64_t>())};
  if (row["issued_micros"].is_null()) {
    const Json others = Json::parse(row["other_currencies"].c_str());
    invoice.other_currencies = others.get<std::vector<std::string>>();
    return invoice;
  }
  invoice.state = InvoiceState::issued;
  if (!row["number"].is_null()) invoice.number = row["number"].as<int64_t>();
  invoice.issued_at = from_micros(row["issued_micros"].as<int64_t>());
  return invoice;
}

InvoiceLine invoice_line_from(const pqxx::row& row) {
  InvoiceLine line{.meter = row["meter"].as<std::string>(),
                   .deployment = row["deployment"].as<std::string>(),
                   .profile = row["profile"].as<std::string>(),
                   .quantity = Decimal::from_sql(row["quantity"].c_str()),
                   .unit_price = Decimal::from_sql(row["unit_price"].c_str()),
                   .amount_exact = Decimal::from_sql(row["amount_exact"].c_str())};
  if (!row["adjusts"].is_null()) line.adjusts = InvoiceId{row["adjusts"].as<std::string>()};
  return line;
}

bool is_charged_late(pqxx::work& tx, const TenantId& tenant, const std::string& currency) {
  return tx.exec_params1("SELECT coalesce(sum(e.charge), 0) > 0" + kLate, tenant.value, currency)[0]
      .as<bool>();
}

void read_credit_notes(pqxx::work& tx, Invoice& invoice) {
  for (const auto& row : tx.exec_params(
           "SELECT id, amount, reason, (extract(epoch FROM created_at) * 1000000)::bigint"
           " AS created_micros FROM credit_note WHERE invoice = $1 ORDER BY created_at, id",
           invoice.id.value))
    invoice.credit_notes.push_back(
        {row["id"].as<std::string>(), Decimal::from_sql(row["amount"].c_str()),
         row["reason"].as<std::string>(), from_micros(row["created_micros"].as<int64_t>())});
}

std::optional<Invoice> read_where(pqxx::work& tx, const InvoiceId& id, const std::string& lock) {
  const auto rows = tx.exec_params(
      "SELECT " + std::string(kInvoiceColumns) + " FROM invoice WHERE id = $1" + lock, id.value);
  if (rows.empty()) return std::nullopt;
  Invoice invoice = invoice_from(rows[0]);
  for (const auto& row : tx.exec_params(
           "SELECT * FROM invoice_line WHERE invoice = $1 ORDER BY position", id.value)) {
    invoice.lines.push_back(invoice_line_from(row));
    invoice.lines.back().amount = Decimal::from_sql(row["amount"].c_str());
  }
  read_credit_notes(tx, invoice);
  return invoice;
}

}  // namespace

void compute_lines(pqxx::work& tx, Invoice& invoice, int64_t through) {
  const int digits = minor_digits(invoice.currency).value_or(2);
  invoice.lines.clear();
  invoice.total = Decimal();
  for (const auto& row :
       tx.exec_params(kLines, invoice.tenant.value, invoice.currency, to_rfc3339(invoice.from),
                      to_rfc3339(invoice.to), through)) {
    invoice.lines.push_back(invoice_line_from(row));
    invoice.lines.back().amount = invoice.lines.back().amount_exact.rounded(digits);
    invoice.total += invoice.lines.back().amount;
  }
}

std::set<std::string> charged_in(pqxx::work& tx, const Invoice& invoice) {
  std::set<std::string> currencies;
  for (const auto& row :
       tx.exec_params("SELECT DISTINCT charge_currency FROM usage_event WHERE tenant = $1"
                      " AND interval_start >= $2::timestamptz AND interval_start < $3::timestamptz"
                      " AND charge <> 0",
                      invoice.tenant.value, to_rfc3339(invoice.from), to_rfc3339(invoice.to)))
    currencies.insert(row[0].as<std::string>());
  return currencies;
}

std::set<std::string> charged_late(pqxx::work& tx, const TenantId& tenant) {
  std::set<std::string> currencies;
  for (const auto& row : tx.exec_params(
           "SELECT DISTINCT currency FROM invoice WHERE tenant = $1 AND state = 'issued'",
           tenant.value)) {
    const auto currency = row[0].as<std::string>();
    if (is_charged_late(tx, tenant, currency)) currencies.insert(currency);
  }
  return currencies;
}

void insert_invoice(pqxx::work& tx, const Invoice& invoice) {
  tx.exec_params(
      "INSERT INTO invoice (id, tenant, period_from, period_to, currency, total, other_currencies)"
      " VALUES ($1, $2, $3::timestamptz, $4::timestamptz, $5, $6::numeric, $7::text[])",
      invoice.id.value, invoice.tenant.value, to_rfc3339(invoice.from), to_rfc3339(invoice.to),
      invoice.currency, invoice.total.to_string(), sql_array_of(invoice.other_currencies));
}

void prune_drafts(pqxx::work& tx, const TenantId& tenant, int64_t most) {
  tx.exec_params(
      "WITH old AS (DELETE FROM invoice WHERE state = 'draft' AND id IN (SELECT id FROM invoice"
      "   WHERE tenant = $1 AND state = 'draft' ORDER BY created_at DESC, id DESC OFFSET $2)"
      "   RETURNING id)"
      " DELETE FROM invoice_line USING old WHERE invoice = old.id",
      tenant.value, most);
}

void replace_lines(pqxx::work& tx, const Invoice& invoice) {
  SqlArray adjusts, meter, deployment, profile, quantity, unit_price, exact, amount;
  for (const InvoiceLine& line : invoice.lines) {
    line.adjusts ? adjusts.add(line.adjusts->value) : adjusts.add_null();
    meter.add(line.meter);
    deployment.add(line.deployment);
    profile.add(line.profile);
    quantity.add(line.quantity.to_string());
    unit_price.add(line.unit_price.to_string());
    exact.add(line.amount_exact.to_string());
    amount.add(line.amount.to_string());
  }
  tx.exec_params("DELETE FROM invoice_line WHERE invoice = $1", invoice.id.value);
  tx.exec_params(
      "INSERT INTO invoice_line (invoice, position, adjusts, meter, deployment, profile, quantity,"
      " unit_price, amount_exact, amount)"
      " SELECT $1, position, adjusts, meter, deployment, profile, quantity, unit_price, exact,"
      " amount FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[],"
      " $7::numeric[], $8::numeric[], $9::numeric[]) WITH ORDINALITY AS l (adjusts, meter,"
      " deployment, profile, quantity, unit_price, exact, amount, position)",
      invoice.id.value, adjusts.str(), meter.str(), deployment.str(), profile.str(), quantity.str(),
      unit_price.str(), exact.str(), amount.str());
}

std::optional<Invoice> lock_invoice(pqxx::work& tx, const InvoiceId& id) {
  return read_where(tx, id, " FOR UPDATE");
}

std::optional<Invoice> read_invoice(pqxx::work& tx, const InvoiceId& id) {
  return read_where(tx, id, "");
}

std::vector<Invoice> read_invoices(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   const std::optional<InvoiceCursor>& after, int64_t limit) {
  plan_for_values(tx);
  const auto rows =
      tx.exec_params("SELECT " + std::string(kInvoiceColumns) +
                         " FROM invoice WHERE ($1::text IS NULL OR tenant = $1)"
                         " AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3))"
                         " ORDER BY created_at, invoice.id LIMIT $4",
                     tenant ? std::optional(tenant->value) : std::nullopt,
                     after ? std::optional(to_rfc3339(after->created_at)) : std::nullopt,
                     after ? std::optional(after->id.value) : std::nullopt, limit);
  std::vector<Invoice> invoices;
  for (const auto& row : rows) {
    invoices.push_back(invoice_from(row));
    read_credit_notes(tx, invoices.back());
  }
  return invoices;
}

void mark_issued(pqxx::work& tx, const Invoice& invoice, int64_t through) {
  tx.exec_params(
      "WITH next AS (UPDATE invoice_number SET last = last + 1 RETURNING last)"
      " UPDATE invoice SET state = 'issued', issued_at = clock_timestamp(), total = $2::numeric,"
      " credits_applied = $3::numeric, through_sequence = $4, number = next.last,"
      " tenant_name = (SELECT name FROM tenant WHERE id = invoice.tenant) FROM next"
      " WHERE invoice.id = $1",
      invoice.id.value, invoice.total.to_string(), invoice.credits_applied.to_string(), through);
}

bool overlaps_issued(pqxx::work& tx, const Invoice& invoice) {
  return !tx.exec_params(
                "SELECT FROM invoice WHERE tenant = $1 AND currency = $2"
                " AND state = 'issued' AND period_from < $4::timestamptz"
                " AND period_to > $3::timestamptz AND id <> $5",
                invoice.tenant.value, invoice.currency, to_rfc3339(invoice.from),
                to_rfc3339(invoice.to), invoice.id.value)
              .empty();
}

void lock_issuing(pqxx::work& tx, const TenantId& tenant) {
  tx.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('invoices/' || $1, 0))",
                 tenant.value);
}

int64_t issued_through(pqxx::work& tx, const Invoice& invoice) {
  return tx
      .exec_params1(
          "SELECT coalesce(max(through_sequence), 0) FROM invoice"
          " WHERE tenant = $1 AND currency = $2 AND state = 'issued'",
          invoice.tenant.value, invoice.currency)[0]
      .as<int64_t>();
}

int64_t last_sequence(pqxx::work& tx) {
  // A sequence that was never drawn from shows its first value as its last.
  return tx.exec1("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM usage_sequence")[0]
      .as<int64_t>();
}

}  // namespace sandgate
