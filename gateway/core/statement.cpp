#include "gateway/core/statement.hpp"

#include <unordered_map>

namespace sandgate {
namespace {

// Names of prepared statements by their text.
using PreparedNames = std::unordered_map<std::string, std::string>;

PreparedNames& prepared_on_this_thread() {
  thread_local PreparedNames names;
  return names;
}

}  // namespace

void forget_prepared() { prepared_on_this_thread().clear(); }

std::string prepared_name(DatabaseConnection& connection, const std::string& sql) {
  PreparedNames& names = prepared_on_this_thread();
  if (const auto known = names.find(sql); known != names.end()) return known->second;
  std::string name = "s" + std::to_string(names.size());
  connection.prepare(name, sql);
  // Only after success: a failed prepare is tried again.
  names.emplace(sql, name);
  return name;
}

}  // namespace sandgate
