#include "local/namespaces/recycled_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/namespaces/disk_mount.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

class RecycledFilesTest : public testing::Test {
 protected:
  std::string spares() const { return home_ + "/spare"; }
  std::string file(const std::string& name, const std::string& text = "somebody's") const {
    const std::string path = home_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  static ino_t inode(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_ino;
  }
  static size_t count(const std::string& directory) {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }

  const test::TempDirectory directory_;
  const std::string home_ = directory_.path();
};

TEST_F(RecycledFilesTest, GiveBackTheSameFileEmpty) {
  RecycledFiles files(spares());
  const std::string one = file("one"), other = home_ + "/other";
  const ino_t before = inode(one);
  EXPECT_TRUE(files.put(one));
  EXPECT_FALSE(fs::exists(one));
  const Fd taken = files.take(other);
  ASSERT_TRUE(taken);
  EXPECT_EQ(inode(other), before);
  EXPECT_EQ(fs::file_size(other), 0u);
  EXPECT_EQ(write(taken.get(), "x", 1), 1);
  EXPECT_FALSE(files.take(home_ + "/third")) << "there was one";
}

TEST_F(RecycledFilesTest, LeaveWhatSomebodyHasOpen) {
  RecycledFiles files(spares());
  for (const int how : {O_RDONLY, O_RDWR}) {
    const std::string one = file("one");
    {
      const Fd held(open(one.c_str(), how | O_CLOEXEC));
      EXPECT_FALSE(files.put(one));
      EXPECT_EQ(fs::file_size(one), 10u);
    }
    EXPECT_TRUE(files.put(one)) << "held no more";
  }
}

TEST_F(RecycledFilesTest, LeaveWhatADeviceHolds) {
  if (geteuid() != 0) GTEST_SKIP() << "loop devices need root";
  RecycledFiles files(spares());
  const std::string image = file("image", std::string(1 << 20, 'x'));
  {
    Fd opened(open(image.c_str(), O_RDWR | O_CLOEXEC));
    const LoopDevice loop = attach_loop(opened.get());
    opened.reset();
    EXPECT_FALSE(files.put(image));
    EXPECT_EQ(fs::file_size(image), size_t{1} << 20);
  }
  EXPECT_TRUE(files.put(image)) << "detached";
}

TEST_F(RecycledFilesTest, ReplaceNothing) {
  RecycledFiles files(spares());
  EXPECT_TRUE(files.put(file("one")));
  const std::string taken = file("taken");
  EXPECT_FALSE(files.take(taken));
  EXPECT_EQ(fs::file_size(taken), 10u);
}

TEST_F(RecycledFilesTest, AreNotMoreThanThat) {
  RecycledFiles files(spares());
  for (size_t i = 0; i < RecycledFiles::kMaxFiles; ++i)
    EXPECT_TRUE(files.put(file("f" + std::to_string(i))));
  const std::string more = file("more");
  EXPECT_FALSE(files.put(more));
  EXPECT_TRUE(fs::exists(more));
  EXPECT_EQ(count(spares()), RecycledFiles::kMaxFiles);
}

TEST_F(RecycledFilesTest, AreDroppedWhenNobodyNeedsThem) {
  RecycledFiles files(spares());
  EXPECT_TRUE(files.put(file("one")));
  EXPECT_TRUE(files.put(file("two")));
  const auto now = std::chrono::steady_clock::now();
  files.drop_unused(now + RecycledFiles::kKept - std::chrono::seconds(1));
  EXPECT_EQ(count(spares()), 2u);
  files.drop_unused(now + RecycledFiles::kKept);
  EXPECT_EQ(count(spares()), 0u);
  EXPECT_FALSE(files.take(home_ + "/other"));
}

TEST_F(RecycledFilesTest, OfAnEarlierProcessAreNotUsed) {
  fs::create_directory(spares());
  file("spare/1");  // left by one that was killed
  RecycledFiles files(spares());
  EXPECT_EQ(count(spares()), 0u);
  EXPECT_FALSE(files.take(home_ + "/other"));
}

TEST_F(RecycledFilesTest, GoWithTheirProcess) {
  EXPECT_TRUE(RecycledFiles(spares()).put(file("one")));
  EXPECT_EQ(count(spares()), 0u);
}

TEST_F(RecycledFilesTest, NeedAFileToTake) {
  RecycledFiles files(spares());
  EXPECT_FALSE(files.put(home_ + "/absent"));
  EXPECT_FALSE(files.take(home_ + "/other"));
  EXPECT_EQ(symlink(file("one").c_str(), (home_ + "/link").c_str()), 0);
  EXPECT_FALSE(files.put(home_ + "/link")) << "and follows no link";
}

}  // namespace
}  // namespace sandgate
