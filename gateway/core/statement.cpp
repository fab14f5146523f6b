#include "gateway/core/statement.hpp"

#include <functional>
#include <set>

namespace sandgate {
namespace {

std::set<size_t>& known_on_this_thread() {
  thread_local std::set<size_t> known;
  return known;
}

}  // namespace

void forget_prepared() { known_on_this_thread().clear(); }

std::string prepared_name(DatabaseConnection& connection, const std::string& sql) {
  const size_t hash = std::hash<std::string>{}(sql);
  std::string name = "s" + std::to_string(hash);
  // Recorded only after success, so that a failed prepare is tried again.
  if (!known_on_this_thread().contains(hash)) connection.prepare(name, sql);
  known_on_this_thread().insert(hash);
  return name;
}

}  // namespace sandgate
