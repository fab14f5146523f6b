#include "local/node/machine/volatile_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class VolatileDirectory : public testing::Test {
 protected:
  ~VolatileDirectory() override {
    if (fs::is_symlink(path())) fs::remove_all(fs::read_symlink(path()));
  }
  std::string path() const { return home_.path() + "/sandboxes"; }
  void put_something() const { std::ofstream(path() + "/entry") << "x"; }

  TempDirectory home_;
};

TEST_F(VolatileDirectory, KeepsWhatIsThereOverAStart) {
  make_volatile_directory(path());
  put_something();
  make_volatile_directory(path());
  EXPECT_TRUE(fs::exists(path() + "/entry"));
}

TEST_F(VolatileDirectory, IsMadeAnewWhenTheMachineForgotIt) {
  fs::create_directory_symlink(home_.path() + "/gone", path());
  make_volatile_directory(path());
  put_something();
  EXPECT_TRUE(fs::exists(path() + "/entry"));
  EXPECT_FALSE(fs::exists(home_.path() + "/gone"));
}

TEST_F(VolatileDirectory, LeavesADirectoryThatIsInUse) {
  fs::create_directory(path());
  put_something();
  make_volatile_directory(path());
  EXPECT_FALSE(fs::is_symlink(path()));
  EXPECT_TRUE(fs::exists(path() + "/entry"));
}

TEST_F(VolatileDirectory, IsNotFollowedToWhatIsNotOurs) {
  fs::create_directory(home_.path() + "/theirs");
  fs::create_directory_symlink(home_.path() + "/theirs", home_.path() + "/detour");
  fs::create_directory_symlink(home_.path() + "/detour", path());
  make_volatile_directory(path());
  put_something();
  EXPECT_TRUE(fs::is_empty(home_.path() + "/theirs"));
}

TEST_F(VolatileDirectory, GoesOnlyWhenItIsEmpty) {
  make_volatile_directory(path());
  if (!fs::is_symlink(path())) GTEST_SKIP() << "no memory file system on /run or /dev/shm";
  const fs::path memory = fs::read_symlink(path());
  put_something();
  remove_volatile_directory(path());
  EXPECT_TRUE(fs::exists(path() + "/entry"));
  fs::remove(path() + "/entry");
  remove_volatile_directory(path());
  EXPECT_FALSE(fs::is_symlink(path()));
  EXPECT_FALSE(fs::exists(memory));
}

}  // namespace
}  // namespace sandgate::test
