#pragma once
#include <memory>
#include <string>

#include "gateway/core/database.hpp"

namespace sandgate::test {

// A fresh database in a private Cluster, which each test program starts once and stops at its end.
class TestDatabase {
 public:
  enum class Schema { empty, migrated };
  // The role that owns the database and connects to it: a superuser, as with the embedded
  // PostgreSQL, or a role with only an owner's rights, as with an external one.
  enum class Owner { superuser, ordinary };
  explicit TestDatabase(Schema schema = Schema::migrated, Owner owner = Owner::superuser);
  ~TestDatabase();

  Database& operator*() { return *database_; }
  Database* operator->() { return database_.get(); }
  const std::string& url() const { return url_; }
  // Stop and restart the cluster, for tests of outages.
  static void stop_cluster();  // immediate, like kill -9
  static void start_cluster();  // after stop_cluster

 private:
  std::string name_, url_;
  std::unique_ptr<Database> database_;
};

}  // namespace sandgate::test
