#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/decimal.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

struct InvoiceLine {
  std::optional<InvoiceId> adjusts;  // of late usage: the invoice of its period
  std::string meter, deployment, profile;
  Decimal quantity, unit_price;
  Decimal amount_exact;
  Decimal amount;  // rounded half even to the minor unit
};

enum class InvoiceState { draft, issued };

// A credit note: a part of an issued invoice that was taken back.
struct InvoiceCredit {
  std::string id;  // of the credit note
  Decimal amount;
  std::string reason;
  Time created_at;
};

struct Invoice {
  InvoiceId id;
  std::optional<int64_t> number;  // of issued ones, see docs/decisions/0142-invoice-numbers.md
  TenantId tenant;
  std::string tenant_name;  // when it was issued; of a draft: now
  Time from, to;
  std::string currency;
  std::vector<std::string> other_currencies;  // of a draft: what else its time was charged in then
  InvoiceState state = InvoiceState::draft;
  std::vector<InvoiceLine> lines;
  Decimal total;  // sum of the rounded amounts
  Decimal credits_applied;  // paid from credits, at issue and since
  std::vector<InvoiceCredit> credit_notes;  // oldest first
  Time created_at;
  std::optional<Time> issued_at;

  Decimal credited() const;  // by credit notes
  Decimal due() const;  // left to pay, never negative
  Decimal returned() const;  // of what was paid: back among the tenant's credits
};

// The place of an invoice in the order in which they were made. It stays when a draft is removed.
struct InvoiceCursor {
  Time created_at;
  InvoiceId id;
};

std::string_view to_string(InvoiceState state);
Json to_json(const Invoice& invoice);
std::string to_csv(const Invoice& invoice);
// An amount with the digits of the invoice's currency.
std::string money_text(const Decimal& amount, const Invoice& invoice);

}  // namespace sandgate
