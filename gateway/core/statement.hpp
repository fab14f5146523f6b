#pragma once
#include <string>
#include <type_traits>
#include <utility>

#include <pqxx/pqxx>

namespace sandgate {

using DatabaseConnection = std::remove_reference_t<decltype(std::declval<pqxx::work&>().conn())>;

// The name under which a statement of this text is known to the connection of this thread; the
// server parses and plans it once.
std::string prepared_name(DatabaseConnection& connection, const std::string& sql);

// For each new connection of a thread, which knows none yet.
void forget_prepared();

// Lets the transaction end before it is on disk: a crash of the server may lose it, unless a later
// commit that waits took it along. For what is done again then, or was for nothing.
inline void commit_lazily(pqxx::work& tx) { tx.exec("SET LOCAL synchronous_commit TO off"); }

// For statements with filters that may be absent: from here to the end of the transaction the
// server plans for the values at hand, and so with the index that serves them.
inline void plan_for_values(pqxx::work& tx) { tx.exec("SET LOCAL plan_cache_mode TO auto"); }

// Runs a statement that runs often. Its text has to be one of a fixed number: never composed from
// values.
template <class... Args>
pqxx::result run_prepared(pqxx::transaction_base& tx, const std::string& sql, Args&&... args) {
  return tx.exec_prepared(prepared_name(tx.conn(), sql), std::forward<Args>(args)...);
}

}  // namespace sandgate
