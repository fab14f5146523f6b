#pragma once
#include <gtest/gtest.h>

#include "gateway/core/notifications.hpp"
#include "registry/profile_parse.hpp"
#include "registry/profile_resolver.hpp"
#include "registry/tenant_store.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {

inline const Actor kActor{
    .key_id = "kyx", .key_name = "test", .role = "operator", .request_id = "rqx"};

// Waits for something another thread brings about; fails the test after ten seconds.
template <class Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) FAIL() << "waited in vain";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// What one SQL statement ends in, run as whoever owns the tables: empty when it worked.
inline std::string sql_refusal(TestDatabase& database, const std::string& sql) {
  pqxx::connection connection(database.url());
  pqxx::work tx(connection);
  try {
    tx.exec(sql);
    return "";
  } catch (const pqxx::sql_error& error) {
    return error.what();
  }
}

}  // namespace sandgate::test
