#pragma once
#include <string>
#include <vector>

#include "gateway/core/database.hpp"

namespace sandgate {

// One forward-only schema step. Steps apply in the order of their names ("0001_tenants").
struct Migration {
  std::string name;
  std::string sql;
};

// The files of migrations/, embedded in the binary.
const std::vector<Migration>& shipped_migrations();

// Applies all missing steps in one transaction. An advisory lock serializes replicas that start
// together. Throws Error(conflict) if the database has a step this binary does not know, if an
// applied step's text has changed, if a missing step sorts before an applied one, or if the
// database is another program's, and Error(forbidden) if the role lacks the right. Returns the
// names of the applied steps.
Task<std::vector<std::string>> migrate(Database& database,
                                       const std::vector<Migration>& migrations);

// Waits until the database has its migration table; migrations may still be running. Throws
// Error(unavailable) if the table is still missing after `patience`.
Task<void> await_schema(Database& database, std::chrono::milliseconds patience);

}  // namespace sandgate
