#pragma once
#include <chrono>
#include <cstddef>

#include <pqxx/pqxx>

namespace sandgate::sandbox_rows {

// Removes sandboxes that ended `age` ago or earlier with what hangs on them (decision, attempts,
// shadow, ports, secrets), oldest first, `most` at a time. Returns how many. Usage stays.
size_t forget_ended(pqxx::work& tx, std::chrono::hours age, int most);

}  // namespace sandgate::sandbox_rows
