#pragma once
#include <string>
#include <vector>

#include "gateway/core/database.hpp"

namespace sandgate {

// One step of the schema, forward only. Names sort in the order they apply ("0001_tenants").
struct Migration {
  std::string name;
  std::string sql;
};

// The files of migrations/, compiled in.
const std::vector<Migration>& shipped_migrations();

// Applies what is missing in one transaction, under an advisory lock so that replicas starting
// together do not race. Throws Error(conflict) when the database holds a step
// this binary does not know, one whose text changed, or one that would now apply out of order.
// Returns the names applied.
Task<std::vector<std::string>> migrate(Database& database,
                                       const std::vector<Migration>& migrations);

// Waits until the database has its first step; of others, which may be under way, nothing is said.
// Throws Error(unavailable) when it still has none after `patience`: nobody set it up.
Task<void> await_schema(Database& database, std::chrono::milliseconds patience);

}  // namespace sandgate
