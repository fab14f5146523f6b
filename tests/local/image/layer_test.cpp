// What layers leave in a tree.
#include "local/image/layer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"
#include "local/image/run_in_chroot.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class LayerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: the root directory is changed to unpack";
    fs::create_directory(tree());
  }
  std::string tree() const { return directory_.path() + "/tree"; }
  void apply(const std::vector<Member>& members, int64_t entries = 100,
             Unpacker unpacker = Unpacker::root) {
    const std::string layer = directory_.path() + "/layer";
    std::ofstream(layer, std::ios::binary) << tar_of(members);
    const Fd file(open(layer.c_str(), O_RDONLY | O_CLOEXEC));
    const auto unpack = [&] {
      UnpackBudget budget{.entries = entries};
      apply_layer(file.get(), unpacker, budget);
      return std::string();
    };
    run_in_chroot(tree(), unpack, file.get());
  }
  unsigned mode(const std::string& path) const {
    struct stat status {};
    EXPECT_EQ(lstat((tree() + path).c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

 private:
  TempDirectory directory_;
};

// Many tools write no entries for parents. Who may write there may replace an image's programs.
TEST_F(LayerTest, DirectoriesWithoutAnEntryAreTheirOwnersAlone) {
  apply({{"usr/lib/a", Member::file, "a"}, {"srv/in/.wh.none", Member::file, ""}});
  for (const char* made : {"/usr", "/usr/lib", "/srv", "/srv/in"})
    EXPECT_EQ(mode(made), 0755u) << made;
}

// Whiteouts hide what earlier layers have, also where they come last and their own layer has more.
TEST_F(LayerTest, WhatEarlierLayersHaveIsHiddenInAnyOrder) {
  apply({{"gone/sub/old", Member::file, "o"},
         {"cleared/sub/old", Member::file, "o"},
         {"cleared/link", Member::symlink, "sub"}});
  apply({{"gone/sub/new", Member::file, "n"},
         {"gone/empty", Member::directory, "", 0700},
         {".wh.gone", Member::file, ""},
         {"cleared/sub/new", Member::file, "n"},
         {"cleared/.wh..wh..opq", Member::file, ""}});
  for (const char* kept : {"/gone/sub/new", "/gone/empty", "/cleared/sub/new"})
    EXPECT_TRUE(fs::exists(tree() + kept)) << kept;
  for (const char* hidden : {"/gone/sub/old", "/cleared/sub/old", "/cleared/link"})
    EXPECT_FALSE(fs::exists(fs::symlink_status(tree() + hidden))) << hidden;
}

// In any order, too; tools that write no entries for parents leave out the directory.
TEST_F(LayerTest, FilesOfEarlierLayersGiveWayToDirectories) {
  const std::vector<Member> files{{"opaque", Member::file, "o"},
                                  {"parent", Member::file, "o"},
                                  {"hider", Member::file, "o"},
                                  {"etc/deep", Member::pipe},
                                  {"kept", Member::file, "o"}};
  apply(files);
  apply({{"opaque/.wh..wh..opq", Member::file, ""},
         {"opaque", Member::directory, "", 0700},
         {"opaque/new", Member::file, "n"},
         {"parent/new", Member::file, "n"},
         {"hider/.wh.old", Member::file, ""},
         {"etc/deep/er/new", Member::file, "n"}});
  EXPECT_EQ(mode("/opaque"), 0700u);
  EXPECT_EQ(mode("/parent"), 0755u);
  for (const char* made : {"/opaque/new", "/parent/new", "/hider", "/etc/deep/er/new", "/kept"})
    EXPECT_TRUE(fs::exists(tree() + made)) << made;
  EXPECT_THROW(apply({{"kept", Member::file, "n"}, {"kept/new", Member::file, "n"}}), Error)
      << "one layer cannot have both";
}

TEST_F(LayerTest, WhatWhiteoutsLookAtCounts) {
  const std::vector<Member> members{{"a", Member::file, ""},
                                    {".wh..wh..opq", Member::file, ""},
                                    {".wh..wh..opq", Member::file, ""}};
  EXPECT_THROW(apply(members, 4), Error);
  EXPECT_NO_THROW(apply(members, 5));
}

// An archive of a megabyte could else make a hundred million of them.
TEST_F(LayerTest, DirectoriesWithoutAnEntryCount) {
  const std::vector<Member> members{{"a/b/c/file", Member::file, ""},
                                    {"link", Member::symlink, "d/e"},
                                    {"link/f/.wh.none", Member::file, ""},
                                    {"a/b/file", Member::file, ""}};
  EXPECT_THROW(apply(members, 9), Error);
  fs::remove_all(tree());
  fs::create_directory(tree());
  EXPECT_NO_THROW(apply(members, 10)) << "four entries, and six directories";
  EXPECT_NO_THROW(apply(members, 4)) << "which are there now";
}

// An archive of 70 KiB with four thousand such files took an hour of a processor.
TEST_F(LayerTest, DeepDirectoriesAreMadeSoon) {
  // In memory, where it takes next to no time to make one.
  const TempDirectory memory("/dev/shm");
  fs::remove(tree());
  fs::create_directory_symlink(memory.path(), tree());
  std::string way;
  for (int level = 0; level < 250; ++level) way += "a/";
  std::vector<Member> members;
  for (int i = 0; i < 40; ++i) members.push_back({std::to_string(i) + "/" + way + "file"});
  for (int i = 0; i < 3; ++i) way += "a/";
  members.push_back({way + "b/last", Member::directory, "", 0755});
  const auto used = [] {
    rusage of_children{};
    getrusage(RUSAGE_CHILDREN, &of_children);
    return of_children.ru_utime.tv_sec + of_children.ru_stime.tv_sec;
  };
  const auto before = used();
  apply(members, 20'000);
  EXPECT_LT(used() - before, 3) << "seconds of a processor";
  EXPECT_THROW(apply({{way + "b/c/d", Member::directory, "", 0755}}), Error);
  EXPECT_THROW(apply({{"way", Member::symlink, way + "b/last"}, {"way/d/e", Member::directory}}),
               Error)
      << "links are followed";
  EXPECT_THROW(apply({{"way", Member::symlink, way + "b/last"}, {"way/d/e/file"}}), Error);
}

TEST_F(LayerTest, OrdinaryAccountsMayReadAndRemoveWhatTheyUnpack) {
  const std::vector<Member> members{{"closed", Member::directory, "", 0555},
                                    {"closed/shadow", Member::file, "s", 0},
                                    {"closed/sudo", Member::file, "s", 04111, 7, 8},
                                    {"closed/way", Member::symlink, "shadow"}};
  apply(members, 100, Unpacker::ordinary);
  EXPECT_EQ(mode("/closed"), 0755u);
  EXPECT_EQ(mode("/closed/shadow"), 0400u);
  EXPECT_EQ(mode("/closed/sudo"), 04511u);
  apply(members);
  EXPECT_EQ(mode("/closed"), 0555u);
  EXPECT_EQ(mode("/closed/shadow"), 0u);
  EXPECT_EQ(mode("/closed/sudo"), 04111u);
}

TEST_F(LayerTest, NothingThatIsOpenLeadsOut) {
  const Fd before(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Fd after(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto open_ones = [&] {
    std::string open;
    for (int fd = STDERR_FILENO + 1; fd < 1024; ++fd)
      if (fcntl(fd, F_GETFD) >= 0) open += fd == input.get() ? "input " : "other ";
    return open;
  };
  EXPECT_EQ(run_in_chroot(tree(), open_ones, input.get()), "input other ") << "that is the answer";
  EXPECT_EQ(run_in_chroot(tree(), open_ones), "other ");
}

TEST_F(LayerTest, NobodyUnpacksForWhoWasKilled) {
  const pid_t runner = fork();
  if (runner == 0) {
    const auto unpack_forever = [] {
      std::ofstream("/draft") << getpid() << std::flush;
      rename("/draft", "/pid");
      for (;;) pause();
      return std::string();
    };
    run_in_chroot(tree(), unpack_forever);
    _exit(0);
  }
  pid_t unpacking = 0;
  EXPECT_TRUE(eventually([&] {
    std::ifstream told(tree() + "/pid");
    return static_cast<bool>(told >> unpacking);
  }));
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  EXPECT_TRUE(eventually([&] {
    std::string state;
    std::ifstream status("/proc/" + std::to_string(unpacking) + "/stat");
    return !std::getline(status, state) || state.find(") Z ") != std::string::npos;
  }));
  if (unpacking > 0) kill(unpacking, SIGKILL);
}

}  // namespace
}  // namespace sandgate::test
