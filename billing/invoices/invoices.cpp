#include "billing/invoices/invoices.hpp"

#include <algorithm>

#include "billing/currency.hpp"
#include "billing/invoices/credit_note.hpp"
#include "billing/invoices/credits.hpp"
#include "billing/invoices/invoice_rows.hpp"
#include "billing/known_tenant.hpp"
#include "billing/ledger/ledger.hpp"
#include "billing/timezone.hpp"
#include "billing/usage/booking_watermark.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kInvoiceTimeout{2};
constexpr int64_t kMaxDrafts = 100;  // of a tenant

// Names the other currencies that its time is charged in and that may be invoiced yet.
Error covered(pqxx::work& tx, const Invoice& invoice) {
  std::string why = "part of that time is on an issued invoice in " + invoice.currency + " already";
  std::string left;
  Invoice other = invoice;
  for (const std::string& currency : invoice.other_currencies) {
    other.currency = currency;
    if (!overlaps_issued(tx, other)) left += (left.empty() ? "" : ", ") + currency;
  }
  if (!left.empty()) why += "; set 'currency' for what is charged in " + left;
  return Error(ErrorCode::conflict, why);
}

// Decides the invoice's currency, and names the others in which something could be on it. Late
// usage does not decide over what its time is charged in: it is on the next invoice of its
// currency.
void choose_invoice_currency(pqxx::work& tx, Invoice& invoice,
                             const std::optional<std::string>& asked) {
  auto charged = charged_in(tx, invoice);
  auto late = charged_late(tx, invoice.tenant);
  invoice.currency = report_currency(asked, charged.empty() ? late : charged);
  charged.merge(late);
  charged.erase(invoice.currency);
  invoice.other_currencies.assign(charged.begin(), charged.end());
}

// Adjusts the ledger, which holds exact amounts, to the invoice's rounded total.
void post_rounding(pqxx::work& tx, const Invoice& invoice) {
  Decimal difference = invoice.total;
  for (const InvoiceLine& line : invoice.lines) difference -= line.amount_exact;
  if (difference.is_zero()) return;
  std::string debit = receivable_of(invoice.tenant), credit(kRounding);
  if (difference.is_negative()) std::swap(debit, credit);
  const Money money{difference.is_negative() ? -difference : difference, invoice.currency};
  post(tx, make_transfer(money, "rounding of " + invoice.id.value, invoice.tenant, debit, credit));
}

void apply_credits(pqxx::work& tx, Invoice& invoice) {
  const Decimal left = pay_issued(tx, invoice.tenant, invoice.currency);
  const Decimal applied = std::min(left, invoice.total);
  if (!(applied > Decimal())) return;
  invoice.credits_applied = applied;
  post_credit_payment(tx, invoice.tenant, {applied, invoice.currency}, invoice.id);
}

Json trace_of(const Invoice& invoice) {
  Json json = to_json(invoice);
  json.erase("lines");
  return json;
}

bool has_ended(pqxx::work& tx, const Invoice& invoice) {
  return tx.exec_params1("SELECT $1::timestamptz <= clock_timestamp()", to_rfc3339(invoice.to))[0]
      .as<bool>();
}

// Empty when an invoice with a higher `through` was issued meanwhile: usage in between would be on
// neither.
std::optional<Invoice> issue_in(pqxx::work& tx, const InvoiceId& id, int64_t through,
                                const ChangeTrail& trail) {
  auto invoice = lock_invoice(tx, id);
  if (!invoice) throw Error::not_found("invoice", id.value);
  if (invoice->state == InvoiceState::issued) return *invoice;
  if (!has_ended(tx, *invoice)) throw Error::invalid("/to", "the invoice's time has not ended");
  // Credits and late usage belong on one invoice only.
  lock_issuing(tx, invoice->tenant);
  if (issued_through(tx, *invoice) > through) return std::nullopt;
  if (overlaps_issued(tx, *invoice)) throw covered(tx, *invoice);
  compute_lines(tx, *invoice, through);
  replace_lines(tx, *invoice);
  post_rounding(tx, *invoice);
  apply_credits(tx, *invoice);
  mark_issued(tx, *invoice, through);
  const Invoice issued = *read_invoice(tx, id);
  if (trail) trail(tx, {{"state", "draft"}}, trace_of(issued));
  return issued;
}

}  // namespace

Task<Invoice> Invoices::draft(Order order, ChangeTrail trail) {
  auto work = [order, trail](pqxx::work& tx) {
    Invoice invoice{
        .id = InvoiceId::make(), .tenant = order.tenant, .from = order.from, .to = order.to};
    check_tenant(tx, order.tenant);
    if (order.timezone) {
      check_timezone(tx, *order.timezone);
      invoice.from = moment_in(tx, *order.timezone, order.from);
      invoice.to = moment_in(tx, *order.timezone, order.to);
    }
    choose_invoice_currency(tx, invoice, order.currency);
    if (overlaps_issued(tx, invoice)) throw covered(tx, invoice);
    compute_lines(tx, invoice, last_sequence(tx));
    insert_invoice(tx, invoice);
    replace_lines(tx, invoice);
    prune_drafts(tx, invoice.tenant, kMaxDrafts);
    const Invoice drafted = *read_invoice(tx, invoice.id);
    if (trail) trail(tx, nullptr, trace_of(drafted));
    return drafted;
  };
  co_return co_await database_.report(kInvoiceTimeout, std::move(work));
}

Task<Invoice> Invoices::issue(InvoiceId id, ChangeTrail trail) {
  for (;;) {
    const int64_t through = co_await booking_watermark(database_);
    auto work = [id, through, trail](pqxx::work& tx) { return issue_in(tx, id, through, trail); };
    auto issued = co_await database_.report(kInvoiceTimeout, std::move(work));
    if (issued) co_return std::move(*issued);
  }
}

Task<Invoice> Invoices::credit(InvoiceId id, Decimal amount, std::string reason,
                               ChangeTrail trail) {
  auto work = [id, amount, reason, trail](pqxx::work& tx) {
    const Invoice credited = credit_invoice(tx, id, amount, reason);
    if (trail) trail(tx, nullptr, trace_of(credited));
    return credited;
  };
  co_return co_await database_.run(std::move(work));
}

Task<Invoice> Invoices::get(InvoiceId id) {
  auto work = [id](pqxx::work& tx) { return read_invoice(tx, id); };
  auto invoice = co_await database_.run(std::move(work));
  if (!invoice) throw Error::not_found("invoice", id.value);
  co_return *invoice;
}

Task<std::vector<Invoice>> Invoices::list(std::optional<TenantId> tenant,
                                          std::optional<InvoiceCursor> after, int64_t limit) {
  auto work = [tenant, after, limit](pqxx::work& tx) {
    if (tenant) check_tenant(tx, *tenant);
    return read_invoices(tx, tenant, after, limit);
  };
  co_return co_await database_.run(std::move(work));
}

}  // namespace sandgate
