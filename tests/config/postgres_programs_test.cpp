#include "gateway/supervisor/postgres_programs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/core/error.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

class PostgresPrograms : public testing::Test {
 protected:
  void install(const std::string& version, bool with_server = true) {
    fs::create_directories(versions / version / "bin");
    if (with_server) std::ofstream(versions / version / "bin/initdb") << "";
  }
  void make_cluster(const std::string& version) {
    fs::create_directories(data);
    std::ofstream(data / "PG_VERSION") << version << "\n";
  }
  // The version whose programs are taken, or the message.
  std::string chosen() {
    try {
      return fs::path(postgres_programs(data, versions)).parent_path().filename();
    } catch (const Error& error) {
      return error.what();
    }
  }

  const test::TempDirectory directory;
  const fs::path versions = directory.path() + "/versions", data = directory.path() + "/data";
};

TEST_F(PostgresPrograms, OfANewDatabaseAreTheNewest) {
  install("9");
  install("15");
  install("17", false);  // clients only
  EXPECT_EQ(chosen(), "15");
}

TEST_F(PostgresPrograms, AreOfTheVersionThatMadeTheDatabase) {
  install("15");
  install("17");
  EXPECT_EQ(chosen(), "17");
  make_cluster("15");
  EXPECT_EQ(chosen(), "15");
}

TEST_F(PostgresPrograms, OfThatVersionAreAskedForWhenTheyAreMissing) {
  install("17");
  make_cluster("15");
  EXPECT_NE(chosen().find("apt-get install postgresql-15'"), std::string::npos) << chosen();
  install("15");
  EXPECT_EQ(chosen(), "15");
}

}  // namespace
}  // namespace sandgate
