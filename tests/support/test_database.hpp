#pragma once
#include <memory>
#include <string>

#include "gateway/core/database.hpp"

namespace sandgate::test {

// A private PostgreSQL cluster on a unix socket, started once per test program and ended with it;
// each TestDatabase is an empty database in it. SANDGATE_TEST_POSTGRES_BIN names the directory of
// initdb when it is not in one of the usual places.
class TestDatabase {
 public:
  enum class Schema { empty, migrated };
  // Who owns the database and connects to it: a role that may do everything, as with the embedded
  // PostgreSQL, or one that has no rights but those of an owner, as with one of one's own.
  enum class Owner { superuser, ordinary };
  explicit TestDatabase(Schema schema = Schema::migrated, Owner owner = Owner::superuser);
  ~TestDatabase();

  Database& operator*() { return *database_; }
  Database* operator->() { return database_.get(); }
  const std::string& url() const { return url_; }
  // The cluster's own processes, for tests that stop or kill them.
  static void stop_cluster();  // immediately, like kill -9
  static void start_cluster();  // after stop_cluster

 private:
  std::string name_, url_;
  std::unique_ptr<Database> database_;
};

}  // namespace sandgate::test
