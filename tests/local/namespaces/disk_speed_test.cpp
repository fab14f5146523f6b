#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "gateway/core/fd.hpp"
#include "tests/local/local_node.hpp"

namespace sandgate::test {
namespace {

constexpr int kFileMib = 24;

// A node whose sandboxes may read `mib` MiB a second.
struct SlowNode {
  explicit SlowNode(const char* mib) {
    setenv("SANDGATE_TEST_READ_MIB", mib, 1);
    node = std::make_unique<LocalNode>();
    unsetenv("SANDGATE_TEST_READ_MIB");
  }
  bool limits() {
    for (const std::string& note : run_descriptor().notes)
      if (note.starts_with("disk speed is not limited")) return false;
    return true;
  }
  Descriptor run_descriptor() {
    run(node->provider().refresh());
    return node->provider().descriptor();
  }
  // How long it takes to read a file past all caches.
  double seconds_to_read() {
    const std::string box = node->create();
    const std::string size = std::to_string(kFileMib) + "M";
    node->shell(box, "head -c " + size + " /dev/urandom > ~/f; sync ~/f");
    const std::string image = node->data_dir() + "/disks/" + box + ".img";
    Fd file(open(image.c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(fsync(file.get()), 0);
    EXPECT_EQ(posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(node->shell(box, "dd if=$HOME/f bs=1M iflag=direct status=none | wc -c").out,
              std::to_string(kFileMib << 20) + "\n");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::unique_ptr<LocalNode> node;
};

TEST(DiskSpeedTest, ReadsAreAsFastAsTheSettingsSay) {
  const std::string reason = LocalNode::reason_to_skip();
  if (!reason.empty()) GTEST_SKIP() << reason;
  SlowNode slow("8");
  if (!slow.limits()) GTEST_SKIP() << "this machine cannot limit the disk of its temporary files";
  EXPECT_GT(slow.seconds_to_read(), 0.8 * kFileMib / 8);
  SlowNode fast("0");
  EXPECT_LT(fast.seconds_to_read(), 0.8 * kFileMib / 8) << "the control: without a limit";
}

}  // namespace
}  // namespace sandgate::test
