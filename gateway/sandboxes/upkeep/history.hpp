#pragma once
#include <chrono>
#include <cstddef>

#include <pqxx/pqxx>

namespace sandgate::sandbox_rows {

// Deletes at most `most` sandboxes that ended `age` ago or earlier, oldest first, with their
// dependent rows (decision, attempts, shadow, ports, secrets). Returns how many. Usage stays.
size_t forget_ended(pqxx::work& tx, std::chrono::hours age, int most);

}  // namespace sandgate::sandbox_rows
