#pragma once
#include <memory>
#include <string>

#include "gateway/core/database.hpp"

namespace sandgate::test {

class Cluster;

// A fresh database in the cluster that a run of ctest has for all its programs, or in one that this
// program starts once and stops at its end: started by hand, or while there is an OwnCluster.
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
  // True while one of its connections waits for a lock. Other databases of the cluster do not
  // count.
  bool has_lock_waiter() const;
  // Stop and restart the cluster, for tests of outages, which need an OwnCluster.
  static void stop_cluster();  // immediate, like kill -9
  static void start_cluster();  // after stop_cluster

 private:
  Cluster& cluster_;
  std::string name_, url_;
  std::unique_ptr<Database> database_;
};

// Gives the databases that are made during its life a cluster that is no other program's.
class OwnCluster {
 public:
  OwnCluster();
  ~OwnCluster();
  OwnCluster(const OwnCluster&) = delete;
  OwnCluster& operator=(const OwnCluster&) = delete;
};

// Of a run of ctest: starts the cluster for all programs, and ends it.
void start_shared_cluster();
void stop_shared_cluster();

}  // namespace sandgate::test
