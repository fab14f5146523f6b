#include "gateway/core/statement.hpp"

#include <functional>
#include <map>
#include <set>

namespace sandgate {
namespace {

constexpr size_t kConnectionsRemembered = 64;

}  // namespace

// A server process is one connection for its whole life, so its number tells a new connection from
// one that this thread had before.
std::string prepared_name(DatabaseConnection& connection, const std::string& sql) {
  thread_local std::map<int, std::set<size_t>> known;
  const size_t hash = std::hash<std::string>{}(sql);
  const std::string name = "s" + std::to_string(hash);
  const int server = connection.backendpid();
  if (!known.contains(server) && known.size() >= kConnectionsRemembered) known.clear();
  if (known[server].insert(hash).second) connection.prepare(name, sql);
  return name;
}

}  // namespace sandgate
