#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <pqxx/pqxx>

namespace sandgate {

using DatabaseConnection = std::remove_reference_t<decltype(std::declval<pqxx::work&>().conn())>;

// Returns the name of the statement prepared on this thread's connection; prepares it on first use,
// so that the server parses it once.
std::string prepared_name(DatabaseConnection& connection, const std::string& sql);

// Call for each new connection of a thread: a new connection has no prepared statements.
void forget_prepared();

// Makes the commit asynchronous: a server crash may lose the transaction, unless a later
// synchronous commit flushed it. For work that can be repeated or lost without harm.
inline void commit_asynchronously(pqxx::work& tx) {
  tx.exec("SET LOCAL synchronous_commit TO off");
}

// Makes the server plan for actual parameter values until the end of the transaction. For
// statements with optional filters, so that each can use the fitting index.
inline void plan_for_values(pqxx::work& tx) { tx.exec("SET LOCAL plan_cache_mode TO auto"); }

// Runs a frequent statement as a prepared one. `sql` must be one of a fixed set of texts, never
// composed from values.
template <class... Args>
pqxx::result run_prepared(pqxx::transaction_base& tx, const std::string& sql, Args&&... args) {
  return tx.exec_prepared(prepared_name(tx.conn(), sql), std::forward<Args>(args)...);
}

}  // namespace sandgate
