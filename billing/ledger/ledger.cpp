#include "billing/ledger/ledger.hpp"

#include <limits>

#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

// Reads the entries of `transfers`, which must be sorted by id.
void read_entries(pqxx::work& tx, std::vector<LedgerTransfer>& transfers) {
  SqlArray ids;
  for (const LedgerTransfer& transfer : transfers) ids.add(transfer.id);
  const auto rows = tx.exec_params(
      "SELECT transfer, account, debit, credit FROM ledger_entry"
      " WHERE transfer = ANY ($1::bigint[]) ORDER BY transfer, position",
      ids.str());
  auto at = transfers.begin();
  for (const auto& row : rows) {
    while (at->id != row["transfer"].as<int64_t>()) ++at;
    at->entries.push_back({row["account"].as<std::string>(),
                           Decimal::from_sql(row["debit"].c_str()),
                           Decimal::from_sql(row["credit"].c_str())});
  }
}

// Transfers are read by their ids, which follow the time except for those of transactions that
// overlapped; as when the ledger is closed, none lasts a day.
struct IdSpan {
  int64_t after, before;
};

// Where the transfers of the query's time lie.
IdSpan ids_of(pqxx::work& tx, const LedgerQuery& query) {
  const auto row = tx.exec_params1(
      "SELECT greatest($1, (SELECT id FROM ledger_transfer"
      "   WHERE at < $2::timestamptz - interval '1 day' ORDER BY at DESC LIMIT 1)),"
      " coalesce((SELECT id FROM ledger_transfer"
      "   WHERE at >= $3::timestamptz + interval '1 day' ORDER BY at LIMIT 1), $4)",
      query.after, optional_rfc3339(query.from), optional_rfc3339(query.to),
      std::numeric_limits<int64_t>::max());
  return {row[0].as<int64_t>(), row[1].as<int64_t>()};
}

LedgerTransfer transfer_from(const pqxx::row& row) {
  LedgerTransfer transfer{.id = row["id"].as<int64_t>(),
                          .at = from_micros(row["at_micros"].as<int64_t>()),
                          .currency = row["currency"].as<std::string>(),
                          .reason = row["reason"].as<std::string>()};
  if (!row["tenant"].is_null()) transfer.tenant = TenantId{row["tenant"].as<std::string>()};
  return transfer;
}

}  // namespace

std::string receivable_of(const TenantId& tenant) {
  return "tenant/" + tenant.value + "/receivable";
}
std::string credits_of(const TenantId& tenant) { return "tenant/" + tenant.value + "/credits"; }
std::string payable_to(const std::string& deployment) {
  return "vendor/" + deployment + "/payable";
}

LedgerTransfer make_transfer(const Money& money, std::string reason, std::optional<TenantId> tenant,
                             std::string debit, std::string credit) {
  return {.currency = money.currency,
          .reason = std::move(reason),
          .tenant = std::move(tenant),
          .entries = {{std::move(debit), money.amount, Decimal()},
                      {std::move(credit), Decimal(), money.amount}}};
}

int64_t post(pqxx::work& tx, const LedgerTransfer& transfer) {
  const int64_t id =
      tx.exec_params1(
            "INSERT INTO ledger_transfer (currency, reason, tenant) VALUES ($1, $2, $3)"
            " RETURNING id",
            transfer.currency, transfer.reason,
            transfer.tenant ? std::optional(transfer.tenant->value) : std::nullopt)[0]
          .as<int64_t>();
  SqlArray account, debit, credit;
  for (const LedgerEntry& entry : transfer.entries) {
    account.add(entry.account);
    debit.add(entry.debit.to_string());
    credit.add(entry.credit.to_string());
  }
  tx.exec_params(
      "INSERT INTO ledger_entry (transfer, position, account, debit, credit)"
      " SELECT $1, position, account, debit, credit"
      " FROM unnest($2::text[], $3::numeric[], $4::numeric[]) WITH ORDINALITY"
      " AS e (account, debit, credit, position)",
      id, account.str(), debit.str(), credit.str());
  return id;
}

int64_t post_loss(pqxx::work& tx, const std::string& deployment, const Money& money,
                  const std::string& reason) {
  return post(
      tx, make_transfer(money, reason, std::nullopt, std::string(kLoss), payable_to(deployment)));
}

std::vector<LedgerTransfer> read_ledger(pqxx::work& tx, const LedgerQuery& query) {
  plan_for_values(tx);
  const IdSpan span = ids_of(tx, query);
  // Joined, an account's transfers are read in their order; as a condition, all are looked at.
  const std::string of_account =
      query.account ? "JOIN (SELECT DISTINCT transfer FROM ledger_entry WHERE account = $3"
                      " AND transfer > $1 AND transfer < $7) of_account ON transfer = id WHERE"
                    : "WHERE $3::text IS NULL AND";
  const auto rows = tx.exec_params(
      "SELECT id, (extract(epoch FROM at) * 1000000)::bigint AS at_micros, currency, reason, tenant"
      " FROM ledger_transfer " +
          of_account +
          " id > $1 AND id < $7 AND ($2::text IS NULL OR tenant = $2)"
          " AND ($4::timestamptz IS NULL OR at >= $4) AND ($5::timestamptz IS NULL OR at < $5)"
          " ORDER BY id LIMIT $6",
      span.after, query.tenant ? std::optional(query.tenant->value) : std::nullopt, query.account,
      optional_rfc3339(query.from), optional_rfc3339(query.to), query.limit, span.before);
  std::vector<LedgerTransfer> transfers;
  for (const auto& row : rows) transfers.push_back(transfer_from(row));
  read_entries(tx, transfers);
  return transfers;
}

std::vector<AccountBalance> read_balances(pqxx::work& tx, const std::optional<TenantId>& tenant) {
  plan_for_values(tx);
  // Shared with other readers: nothing is closed until this one has added up.
  const auto through = tx.exec1("SELECT through FROM ledger_closing FOR SHARE")[0].as<int64_t>();
  SqlArray own;
  if (tenant) own.add(receivable_of(*tenant)), own.add(credits_of(*tenant));
  const auto rows = tx.exec_params(
      "SELECT account, currency, sum(debit) AS debit, sum(credit) AS credit FROM ("
      "  SELECT account, currency, debit, credit FROM ledger_closed UNION ALL"
      "  SELECT account, currency, debit, credit FROM ledger_transfer"
      "  JOIN ledger_entry ON transfer = id WHERE id > $1 AND transfer > $1) one"
      " WHERE $2::text[] IS NULL OR account = ANY ($2::text[]) GROUP BY 1, 2 ORDER BY 1, 2",
      through, tenant ? std::optional(own.str()) : std::nullopt);
  std::vector<AccountBalance> balances;
  for (const auto& row : rows)
    balances.push_back({row["account"].as<std::string>(), row["currency"].as<std::string>(),
                        Decimal::from_sql(row["debit"].c_str()),
                        Decimal::from_sql(row["credit"].c_str())});
  return balances;
}

Decimal credit_balance(pqxx::work& tx, const std::string& account, const std::string& currency) {
  return Decimal::from_sql(
      tx.exec_params1("SELECT coalesce(sum(credit - debit), 0) FROM ledger_entry"
                      " JOIN ledger_transfer ON id = transfer WHERE account = $1 AND currency = $2",
                      account, currency)[0]
          .c_str());
}

}  // namespace sandgate
