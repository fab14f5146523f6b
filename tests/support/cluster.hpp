#pragma once
#include <string>

#include "tests/support/run.hpp"

namespace sandgate::test {

// A private PostgreSQL cluster on a unix socket, stopped and deleted with this object. It is in
// memory where the machine has room there, and does not wait for a disk, unless SANDGATE_TEST_FSYNC
// is set: durability is not what tests are about, and would dominate their time.
// SANDGATE_TEST_POSTGRES_BIN names the directory of initdb if it is not in a usual place.
class Cluster {
 public:
  // Starts one with nothing in it, or a copy of one that keep() kept. Throws if it cannot.
  Cluster();
  explicit Cluster(const std::string& kept);
  ~Cluster();

  std::string url(const std::string& database, const std::string& user = "sandgate") const;
  void start();  // after a crash
  void crash();  // like kill -9
  // Stops it and keeps its data at `place`, for copies; another process may do so meanwhile.
  void keep(const std::string& place);

 private:
  std::string data() const { return directory_.path() + "/data"; }
  void stop(const std::string& mode);

  TempDirectory directory_;
};

// Differs between versions of PostgreSQL, whose data do not fit each other.
std::string postgres_bin();

}  // namespace sandgate::test
