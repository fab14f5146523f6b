#include "tests/support/test_database.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "gateway/core/migrate.hpp"
#include "gateway/core/random.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

std::string postgres_bin() {
  if (const char* named = std::getenv("SANDGATE_TEST_POSTGRES_BIN")) return named;
  std::string newest;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", missing))
    if (const std::string bin = entry.path() / "bin"; bin > newest) newest = bin;
  return newest;
}

void shell(const std::string& command) {
  // PostgreSQL refuses to run as root.
  const std::string line =
      geteuid() == 0 ? "runuser -u postgres -- sh -c '" + command + "'" : command;
  if (std::system((line + " >/dev/null 2>&1").c_str()) != 0)
    throw std::runtime_error("failed: " + line);
}

class Cluster {
 public:
  static Cluster& instance() {
    static Cluster cluster;
    return cluster;
  }

  std::string url(const std::string& database, const std::string& user = "sandgate") const {
    return "host=" + directory_.path() + " user=" + user + " dbname=" + database;
  }

  void start() {
    // Durability is not what tests are about, and fsync would dominate their time.
    const std::string fsync = std::getenv("SANDGATE_TEST_FSYNC") ? "on" : "off";
    shell(postgres_bin() + "/pg_ctl -D " + data() + " -w -o \"-c listen_addresses= -c fsync=" +
          fsync + " -k " + directory_.path() + "\" start");
  }
  void stop() { shell(postgres_bin() + "/pg_ctl -D " + data() + " -m immediate -w stop"); }

 private:
  Cluster() {
    if (geteuid() == 0) {
      const passwd* account = getpwnam("postgres");
      if (!account) throw std::runtime_error("no account 'postgres': install postgresql");
      if (chown(directory_.path().c_str(), account->pw_uid, account->pw_gid) != 0)
        throw std::runtime_error("chown failed");
    }
    shell(postgres_bin() + "/initdb -D " + data() +
          " -U sandgate -A trust --no-sync -E UTF8 --locale=C");
    start();
  }
  ~Cluster() {
    try {
      stop();
    } catch (const std::exception&) {
      // Already stopped by the test itself.
    }
  }

  std::string data() const { return directory_.path() + "/data"; }

  TempDirectory directory_;
};

}  // namespace

TestDatabase::TestDatabase(Schema schema, Owner owner) : name_("t" + random_hex(8)) {
  const std::string role = owner == Owner::superuser ? "sandgate" : name_ + "_owner";
  {
    pqxx::connection connection(Cluster::instance().url("postgres"));
    pqxx::nontransaction admin(connection);
    if (owner == Owner::ordinary) admin.exec("CREATE ROLE " + role + " LOGIN");
    admin.exec("CREATE DATABASE " + name_ + " OWNER " + role);
  }
  url_ = Cluster::instance().url(name_, role);
  database_ = std::make_unique<Database>(Database::Options{.url = url_, .connections = 2});
  if (schema == Schema::migrated) run(migrate(*database_, shipped_migrations()));
}

TestDatabase::~TestDatabase() {
  database_.reset();
  try {
    pqxx::connection admin(Cluster::instance().url("postgres"));
    pqxx::nontransaction(admin).exec("DROP DATABASE " + name_ + " WITH (FORCE)");
  } catch (const pqxx::failure&) {
    // The cluster goes away with the program anyway.
  }
}

void TestDatabase::stop_cluster() { Cluster::instance().stop(); }
void TestDatabase::start_cluster() { Cluster::instance().start(); }

}  // namespace sandgate::test
