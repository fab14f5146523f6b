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
  // One that runs in a directory where it was left.
  static Cluster left_at(std::string directory) {
    return Cluster(TempDirectory::left_at(std::move(directory)));
  }
  ~Cluster();

  std::string url(const std::string& database, const std::string& user = "sandgate") const;
  const std::string& directory() const { return directory_.path(); }
  // It runs on in its directory when this object and this process are gone.
  void leave() && { std::move(directory_).leave(); }
  void start();  // after a crash
  void crash();  // like kill -9
  // Stops it and keeps its data at `place`, for copies; another process may do so meanwhile.
  void keep(const std::string& place);

 private:
  explicit Cluster(TempDirectory running) : directory_(std::move(running)) {}
  std::string data() const { return directory_.path() + "/data"; }
  void stop(int signal);  // SIGINT: in order; SIGQUIT: at once

  TempDirectory directory_;
};

// Differs between versions of PostgreSQL, whose data do not fit each other.
std::string postgres_bin();

}  // namespace sandgate::test
