#include "gateway/core/migrate.hpp"

#include <map>

#include "gateway/core/crypto.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kTimeout{10};
// An arbitrary constant that must be the same in every replica.
constexpr int64_t kLock = 0x53414e4447415445;

void check_history(const pqxx::result& applied, const std::vector<Migration>& migrations) {
  std::map<std::string, std::string> known;
  for (const Migration& migration : migrations) known[migration.name] = sha256_hex(migration.sql);
  size_t position = 0;
  for (const auto& row : applied) {
    const auto name = row["name"].as<std::string>();
    if (!known.contains(name))
      throw Error(ErrorCode::conflict, "the database has migration " + name +
                                           ", which this version does not know: upgrade Sandgate");
    if (known[name] != row["checksum"].as<std::string>())
      throw Error(ErrorCode::conflict, "migration " + name + " changed after it was applied");
    if (migrations[position++].name != name)
      throw Error(ErrorCode::conflict, "migration " + migrations[position - 1].name +
                                           " is older than those the database already has");
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Applies one step, of a database that had none before if it `is_new`. What is wrong with the
// database, rather than with the step, gets an error that says what to do.
void apply(pqxx::work& tx, const Migration& step, bool is_new) {
  constexpr const char* kTableExists = "42P07";
  try {
    tx.exec(step.sql);
  } catch (const pqxx::sql_error& failure) {
    if (!is_new || failure.sqlstate() != kTableExists) throw;
    throw Error(ErrorCode::conflict, "the database has tables that are not Sandgate's (" +
                                         first_line(failure.what()) +
                                         "): give Sandgate a database of its own");
  }
}

std::vector<std::string> apply_missing(pqxx::work& tx, const std::vector<Migration>& migrations) {
  tx.exec(
      "CREATE TABLE IF NOT EXISTS schema_migration (name text PRIMARY KEY,"
      " checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())");
  const auto applied = tx.exec("SELECT name, checksum FROM schema_migration ORDER BY name");
  check_history(applied, migrations);
  std::vector<std::string> names;
  for (size_t i = static_cast<size_t>(applied.size()); i < migrations.size(); ++i) {
    apply(tx, migrations[i], applied.empty());
    tx.exec_params("INSERT INTO schema_migration (name, checksum) VALUES ($1, $2)",
                   migrations[i].name, sha256_hex(migrations[i].sql));
    names.push_back(migrations[i].name);
  }
  return names;
}

constexpr std::chrono::milliseconds kLookAgain{200};

bool has_schema(pqxx::work& tx) {
  return tx.exec("SELECT to_regclass('schema_migration') IS NOT NULL")[0][0].as<bool>();
}

}  // namespace

Task<std::vector<std::string>> migrate(Database& database,
                                       const std::vector<Migration>& migrations) {
  // One transaction for all steps, so that the advisory lock covers exactly them.
  co_return co_await database.run_within(kTimeout, [&migrations](pqxx::work& tx) {
    // Wait without limit for another replica's migrations and for readers of the altered tables:
    // the gateway cannot work before the schema is complete.
    tx.exec("SET LOCAL lock_timeout = 0");
    tx.exec("SELECT pg_advisory_xact_lock(" + std::to_string(kLock) + ")");
    try {
      return apply_missing(tx, migrations);
    } catch (const pqxx::insufficient_privilege& failure) {
      throw Error(ErrorCode::forbidden, "the gateway's role may not change its database (" +
                                            first_line(failure.what()) +
                                            "): give it a database that it owns");
    }
  });
}

Task<void> await_schema(Database& database, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    auto asking = database.run(has_schema);
    const bool there = co_await std::move(asking);
    if (there) co_return;
    if (std::chrono::steady_clock::now() >= until)
      throw Error(ErrorCode::unavailable,
                  "the database is empty: start 'sandgate serve' first, which sets it up");
    co_await sleep_for(kLookAgain);
  }
}

}  // namespace sandgate
