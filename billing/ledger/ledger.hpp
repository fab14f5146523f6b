#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/decimal.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

struct LedgerEntry {
  std::string account;
  Decimal debit, credit;  // one of them is zero
};

// A double-entry transfer: its debits equal its credits. Never changed; a correction is another
// one.
struct LedgerTransfer {
  int64_t id = 0;  // 0 until posted
  Time at;
  std::string currency, reason;
  std::optional<TenantId> tenant;
  std::vector<LedgerEntry> entries;
};

// Names of accounts.
std::string receivable_of(const TenantId& tenant);  // what the tenant owes
std::string credits_of(const TenantId& tenant);  // what it has prepaid
std::string payable_to(const std::string& deployment);  // what the vendor is owed
inline constexpr std::string_view kRevenue = "revenue";
inline constexpr std::string_view kLoss = "loss";
inline constexpr std::string_view kPrepaid = "prepaid";
inline constexpr std::string_view kRounding = "rounding";

// A transfer of a positive amount that debits one account and credits the other.
LedgerTransfer make_transfer(const Money& money, std::string reason, std::optional<TenantId> tenant,
                             std::string debit, std::string credit);

// Posts in the caller's transaction and returns the id; a transfer that does not balance fails at
// commit.
int64_t post(pqxx::work& tx, const LedgerTransfer& transfer);

// Posts a vendor's cost that no tenant pays, such as that of an unknown or unreachable sandbox.
int64_t post_loss(pqxx::work& tx, const std::string& deployment, const Money& money,
                  const std::string& reason);

struct LedgerQuery {
  std::optional<TenantId> tenant;
  std::optional<std::string> account;
  std::optional<Time> from, to;
  int64_t after = 0;  // transfers with a larger id
  int64_t limit = 50;
};
std::vector<LedgerTransfer> read_ledger(pqxx::work& tx, const LedgerQuery& query);  // by id

struct AccountBalance {
  std::string account, currency;
  Decimal debit, credit;
};
// Of all accounts, or a tenant's own.
std::vector<AccountBalance> read_balances(pqxx::work& tx, const std::optional<TenantId>& tenant);
// Credit minus debit of one account.
Decimal credit_balance(pqxx::work& tx, const std::string& account, const std::string& currency);

}  // namespace sandgate
