#include "tests/support/test_database.hpp"

#include <filesystem>
#include <fstream>

#include "gateway/core/crypto.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/core/random.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kMigrated = "migrated";
// Holds the directory of the shared cluster while there is one.
constexpr const char* kShared = SANDGATE_TEST_CLUSTERS "/shared";

int own_clusters_wanted = 0;

void administer(const Cluster& cluster, const std::string& sql) {
  pqxx::connection connection(cluster.url("postgres"));
  pqxx::nontransaction(connection).exec(sql);
}

// A cluster with a database that has the shipped migrations, made once per build tree: making it
// is most of a short test's time.
std::string migrated_cluster() {
  std::string contents = postgres_bin();
  for (const Migration& step : shipped_migrations()) contents += step.name + step.sql;
  const std::string place = SANDGATE_TEST_CLUSTERS "/" + sha256_hex(contents);
  if (std::filesystem::exists(place)) return place;
  Cluster cluster;
  administer(cluster, std::string("CREATE DATABASE ") + kMigrated);
  {
    Database database({.url = cluster.url(kMigrated), .connections = 1});
    run(migrate(database, shipped_migrations()));
  }
  cluster.keep(place);
  return place;
}

Cluster& own_cluster() {
  static Cluster cluster(migrated_cluster());
  return cluster;
}

// The first connection to a database caches the system catalog in a file, which copies then have
// as well. That takes longer than many a test.
void cache_catalog(const Cluster& cluster) { pqxx::connection(cluster.url(kMigrated)); }

std::string shared_directory() {
  std::string directory;
  std::getline(std::ifstream(kShared), directory);
  return directory;
}

// Never destroyed: the shared cluster is not this program's to stop.
Cluster* shared_cluster() {
  const std::string directory = shared_directory();
  static Cluster* cluster = std::filesystem::exists(directory + "/data/postmaster.pid")
                                ? new Cluster(Cluster::left_at(directory))
                                : nullptr;
  return cluster;
}

Cluster& cluster() {
  return own_clusters_wanted == 0 && shared_cluster() ? *shared_cluster() : own_cluster();
}

Cluster& cluster_to_stop() {
  if (own_clusters_wanted == 0) throw std::logic_error("others need this cluster: OwnCluster");
  return own_cluster();
}

// Two databases are of two installations, though both are copies.
void set_apart(const std::string& url) {
  pqxx::connection connection(url);
  pqxx::nontransaction(connection).exec_params("UPDATE installation SET id = $1", random_hex(8));
}

}  // namespace

TestDatabase::TestDatabase(Schema schema, Owner owner)
    : cluster_(cluster()), name_("t" + random_hex(8)) {
  const std::string role = owner == Owner::superuser ? "sandgate" : name_ + "_owner";
  // What a copy contains would be the superuser's.
  const bool is_copy = schema == Schema::migrated && owner == Owner::superuser;
  if (owner == Owner::ordinary) administer(cluster_, "CREATE ROLE " + role + " LOGIN");
  administer(cluster_,
             "CREATE DATABASE " + name_ + " OWNER " + role +
                 (is_copy ? std::string(" STRATEGY file_copy TEMPLATE ") + kMigrated : ""));
  url_ = cluster_.url(name_, role);
  if (is_copy) set_apart(url_);
  // A machine may stall for longer than a gateway is patient.
  constexpr std::chrono::seconds kPatience{10};
  database_ = std::make_unique<Database>(
      Database::Options{.url = url_, .connections = 2, .patience = kPatience});
  if (schema == Schema::migrated && !is_copy) run(migrate(*database_, shipped_migrations()));
}

TestDatabase::~TestDatabase() {
  database_.reset();
  try {
    administer(cluster_, "DROP DATABASE " + name_ + " WITH (FORCE)");
  } catch (const pqxx::failure&) {
    // The cluster goes away sooner or later anyway.
  }
}

bool TestDatabase::has_lock_waiter() const {
  // A connection of its own for each look: within a transaction pg_stat_activity stands still.
  pqxx::connection connection(url_);
  pqxx::nontransaction look(connection);
  const pqxx::result waiting = look.exec(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = "
      "'Lock'");
  return !waiting.empty();
}

void TestDatabase::stop_cluster() { cluster_to_stop().crash(); }
void TestDatabase::start_cluster() { cluster_to_stop().start(); }

OwnCluster::OwnCluster() { ++own_clusters_wanted; }
OwnCluster::~OwnCluster() { --own_clusters_wanted; }

void start_shared_cluster() {
  stop_shared_cluster();  // of a run that was killed
  Cluster cluster(migrated_cluster());
  cache_catalog(cluster);
  std::ofstream file(kShared);
  if (!(file << cluster.directory() << std::endl))
    throw std::runtime_error(std::string("cannot write ") + kShared);
  std::move(cluster).leave();
}

void stop_shared_cluster() {
  const std::string directory = shared_directory();
  std::filesystem::remove(kShared);
  if (!directory.empty()) Cluster::left_at(directory);
}

}  // namespace sandgate::test
