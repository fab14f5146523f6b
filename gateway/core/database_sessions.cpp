#include "gateway/core/database_sessions.hpp"

#include "gateway/core/conninfo.hpp"

namespace sandgate {
namespace {

// A pooler usually lends the session that was used last; a busy one may lend another.
constexpr int kLooks = 5;

// A process's number alone may be that of another server's, too.
std::string session_of(pqxx::nontransaction& statement) {
  return statement.exec("SELECT pg_backend_pid() || ' ' || pg_postmaster_start_time()")[0][0]
      .as<std::string>();
}

bool are_shared(pqxx::nontransaction& first, pqxx::nontransaction& second) {
  const std::string own = session_of(first), other = session_of(second);
  for (int look = 0; look < kLooks; ++look)
    if (session_of(first) != own || session_of(second) != other || own == other) return true;
  return false;
}

}  // namespace

Task<void> require_own_sessions(Database& database) {
  auto asking = database.run_statement([url = database.options().url](pqxx::nontransaction& first) {
    try {
      pqxx::connection connection(conninfo_with_timeouts(url));
      pqxx::nontransaction second(connection);
      return are_shared(first, second);
    } catch (const pqxx::broken_connection&) {
      return false;  // it may be out of connections, and is used with those that it gives
    }
  });
  bool shared = false;
  try {
    shared = co_await std::move(asking);
  } catch (const Error& error) {
    if (error.code != ErrorCode::unavailable) throw;
  }
  if (shared)
    throw Error(ErrorCode::conflict,
                "the database is reached through a pooler that lends its sessions for a"
                " transaction: set the pooler's mode to session, or database.url to the server");
}

}  // namespace sandgate
