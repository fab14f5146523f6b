#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "local/namespaces/step_error.hpp"
#include "tests/local/node/node_fixture.hpp"

namespace sandgate::test {
namespace {

class LivesTest : public NodeTest {
 protected:
  void live() {
    const std::string id = node().create();
    if (node().exec(id, Command{.argv = {"/bin/true"}}).exit_code != 0) ++failures_;
    run(node().provider().kill(id));
  }
  // So many lives, some at once.
  void live(int count) {
    constexpr int kAtOnce = 4;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kAtOnce; ++i) {
      threads.emplace_back([this, count] {
        try {
          for (int lived = 0; lived < count / kAtOnce; ++lived) live();
        } catch (const Error&) {
          ++failures_;
        }
      });
    }
  }
  // What is there once the kernel has put away what was.
  HostState at_rest() {
    HostState now;
    EXPECT_TRUE(eventually([&] {
      now = node().host_state();
      return images_left() == 0 && now.processes + now.loops + now.keys == 0;
    }));
    return now;
  }

  // Of those, too, that only the first sandbox of a node may leave more of.
  bool is_as(const HostState& before) {
    const HostState now = node().host_state();
    return now.within(before) && now.keys <= before.keys && now.files <= before.files &&
           now.disk_kib <= before.disk_kib;
  }

  std::atomic<int> failures_{0};
};

// A network interface that goes with the descriptor; the machine tells it from another's by
// nothing.
Fd make_link() {
  Fd link = check_fd(open("/dev/net/tun", O_RDWR | O_CLOEXEC), "open /dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  check(ioctl(link.get(), TUNSETIFF, &request), "make a link");
  return link;
}

// The control of the other: whatever could be left is counted.
TEST_F(LivesTest, WhatIsLeftIsSeen) {
  run(node().provider().kill(node().create()));
  const HostState before = at_rest();
  const std::string living = node().create();
  const HostState with = node().host_state();
  EXPECT_GT(with.processes, before.processes);
  EXPECT_GT(with.cgroups, before.cgroups);
  EXPECT_GT(with.namespaces, before.namespaces);
  EXPECT_GT(with.keys, before.keys);
  EXPECT_GT(with.files, before.files);
  EXPECT_EQ(with.loops > before.loops, images_left() > 0);
  EXPECT_EQ(with.disk_kib > before.disk_kib, images_left() > 0);
  run(node().provider().kill(living));
  EXPECT_TRUE(eventually([&] { return is_as(before); }))
      << before << " became " << node().host_state();
  const std::string place = node().run_dir() + "/left";
  std::filesystem::create_directory(place);
  check(mount("none", place.c_str(), "tmpfs", 0, nullptr), "mount");
  EXPECT_GT(node().host_state().mounts, before.mounts);
  check(umount2(place.c_str(), MNT_DETACH), "unmount");
  EXPECT_FALSE(is_as(before)) << "the directory";
  std::filesystem::remove(place);
  {
    const Fd link = make_link();
    EXPECT_FALSE(is_as(before)) << "the link";
  }
  EXPECT_TRUE(eventually([&] { return is_as(before); }))
      << before << " became " << node().host_state();
}

TEST_F(LivesTest, AThousandLeaveNothing) {
  live(20);  // until all that is made once is made
  const HostState before = at_rest();
  const int of_node = descriptors_of(node().pid()), of_gateway = descriptors_of(getpid());
  live(1000);
  EXPECT_EQ(failures_, 0);
  EXPECT_TRUE(eventually([&] { return is_as(before); }))
      << before << " became " << node().host_state();
  EXPECT_TRUE(eventually([&] { return descriptors_of(node().pid()) <= of_node + 2; }));
  EXPECT_TRUE(eventually([&] { return descriptors_of(getpid()) <= of_gateway + 2; }));
}

}  // namespace
}  // namespace sandgate::test
