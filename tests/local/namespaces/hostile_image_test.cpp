// Images that try to lead the launcher astray, and what an image may say about how it is run.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "local/image/import.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/local_node.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

// A node with an image store of its own, so that trees may be hostile.
class HostileImageTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!reason_to_skip().empty()) return;
    node_ = new LocalNode();
    fs::remove(images());
    fs::create_directory(images());
  }
  static void TearDownTestSuite() {
    delete node_;
    node_ = nullptr;
  }
  void SetUp() override {
    if (std::string reason = reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    ASSERT_NE(node_, nullptr) << "the suite was not set up";
  }
  static std::string reason_to_skip() {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) return reason;
    return fs::exists("/bin/busybox") ? "" : "needs /bin/busybox, of the package busybox-static";
  }
  static LocalNode& node() { return *node_; }
  static std::string images() { return node_->data_dir() + "/images"; }
  std::string outside() const { return outside_.path(); }

  // A busybox image whose tree is changed behind the importer's back.
  template <class F>
  std::string image(F change) {
    ImageStore store(images());
    const std::string draft = store.make_draft(), layout = draft + "/layout";
    write_layout(layout, {tar_of(busybox_layer())});
    const ImageInfo good = import_image(store, "good", layout, [](std::string_view) {});
    const std::string tree = draft + "/tree";
    fs::copy(images() + "/trees/" + good.digest.substr(7), tree,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    change(fs::path(tree));
    ImageInfo info = good;
    info.name = "hostile";
    store.add(info, tree);
    fs::remove_all(draft);
    return info.name;
  }
  static void have_image(const std::string& name, const std::vector<Member>& members,
                         const nlohmann::json& config) {
    ImageStore store(images());
    const std::string draft = store.make_draft();
    write_layout(draft + "/layout", {tar_of(members)}, config);
    import_image(store, name, draft + "/layout", [](std::string_view) {});
    fs::remove_all(draft);
  }
  // What the sandbox of an image prints, or "refused".
  static std::string tried(const std::string& name, const std::string& line) {
    CreateSpec spec = node().spec();
    spec.image = name;
    std::string id;
    try {
      id = node().create(spec);
    } catch (const Error&) {
      return "refused";
    }
    Command command{.argv = {"/bin/sh", "-c", line}};
    std::string out;
    try {
      out = node().exec(id, command).out;
    } catch (const Error&) {
      out = "refused";
    }
    run(node().provider().kill(id));
    return out;
  }

 private:
  static LocalNode* node_;
  TempDirectory outside_;
};

LocalNode* HostileImageTest::node_ = nullptr;

TEST_F(HostileImageTest, MountPointsThatAreLinksAreNotFollowed) {
  const HostState before = node().host_state();
  for (const std::string name : {"dev", "proc"}) {
    for (const std::string& target : {outside(), std::string("../../../.."), std::string("etc"),
                                      std::string("/proc/self/fd"), std::string("missing")}) {
      const std::string made = image([&](const fs::path& tree) {
        fs::remove_all(tree / name);
        fs::create_symlink(target, tree / name);
        if (target == outside()) {
          EXPECT_EQ(fs::canonical(tree / name), fs::canonical(outside())) << "the control";
        }
      });
      EXPECT_EQ(tried(made, "true"), "refused") << name << " -> " << target;
    }
  }
  for (const std::string name : {"dev", "proc"}) {
    const std::string made = image([&](const fs::path& tree) {
      fs::remove_all(tree / name);
      std::ofstream(tree / name) << "a file";
    });
    EXPECT_EQ(tried(made, "true"), "refused") << name;
  }
  EXPECT_TRUE(fs::is_empty(outside()));
  EXPECT_EQ(node().host_state().mounts, before.mounts);
}

// Exchanges two names again and again for as long as it lives.
class Swapping {
 public:
  Swapping(fs::path one, fs::path other)
      : thread_([one = std::move(one), other = std::move(other)](const std::stop_token& over) {
          while (!over.stop_requested())
            renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
        }) {}

 private:
  std::jthread thread_;
};

TEST_F(HostileImageTest, MountPointsThatAreSwappedMeanwhileAreNotFollowed) {
  std::ofstream(outside() + "/canary") << "of the machine";
  const HostState before = node().host_state();
  for (const std::string name : {"dev", "proc"}) {
    // A name of its own, so that neither image has the tree that the other one's swaps have left.
    const std::string other = "not-" + name;
    const std::string made =
        image([&](const fs::path& tree) { fs::create_symlink(outside(), tree / other); });
    const fs::path tree =
        images() + "/trees/" + ImageStore(images()).read(made).digest.substr(strlen("sha256:"));
    const Swapping swapping(tree / name, tree / other);
    std::map<std::string, int> told;
    int led_out = 0;
    for (int i = 0; i < 60; ++i) {
      ++told[tried(made, "test -c /dev/null && test -f /proc/self/status && echo started")];
      led_out += fs::exists(tree / name / "canary") ? 1 : 0;
    }
    EXPECT_GT(told["started\n"], 0) << name;
    EXPECT_GT(told["refused"], 0) << name;
    EXPECT_EQ(told.size(), 2) << name;
    EXPECT_GT(led_out, 0) << "the control: by path it is followed";
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(outside()), fs::directory_iterator()), 1);
  EXPECT_EQ(node().host_state().mounts, before.mounts);
}

// What masks are laid over comes from our own /dev and a fresh /proc, whatever the image has there.
TEST_F(HostileImageTest, TheImagesOwnDeviceFilesAreCovered) {
  const std::string made = image([&](const fs::path& tree) {
    for (const char* name : {"null", "console", "ptmx", "pts", "shm"})
      fs::create_symlink(outside(), tree / "dev" / name);
    mknod((tree / "dev/sda").c_str(), S_IFBLK | 0666, makedev(8, 0));
    mknod((tree / "kmem").c_str(), S_IFCHR | 0666, makedev(1, 3));
    chmod((tree / "kmem").c_str(), 0666);
  });
  EXPECT_EQ(tried(made,
                  "ls /dev/sda 2>/dev/null; cat /proc/keys; echo x > /dev/null; "
                  "(echo x > /kmem) 2>/dev/null && echo broken; readlink /dev/null; echo done"),
            "done\n");
  EXPECT_TRUE(fs::is_empty(outside()));
}

TEST_F(HostileImageTest, AccountsAndHomesLeadNowhere) {
  std::ofstream(outside() + "/passwd") << "user:x:0:0::/:/bin/sh\n";
  const std::string made = image([&](const fs::path& tree) {
    fs::remove(tree / "etc/passwd");
    fs::create_symlink(outside() + "/passwd", tree / "etc/passwd");
    fs::remove_all(tree / "home/user");
    fs::create_symlink(outside(), tree / "home/user");
  });
  EXPECT_EQ(tried(made, "id -u; cat /etc/passwd 2>/dev/null; pwd"), "1000\n/\n");
}

// The image's account has a group of its own; what a program wrote into the files of accounts, to
// be found in a copy of its disk, gives none of root's.
TEST_F(HostileImageTest, RootsGroupNeedsAPermission) {
  const auto made = [&](const char* account, const char* group) {
    return image([&](const fs::path& tree) {
      std::ofstream(tree / "etc/passwd") << "root:x:0:0::/:/bin/sh\n" << account;
      std::ofstream(tree / "etc/group") << group;
    });
  };
  const char* own = "user:x:1000:1000::/:/bin/sh\n";
  EXPECT_EQ(tried(made(own, "root:x:0:\n"), "id -G"), "1000\n");
  EXPECT_EQ(tried(made(own, "root:x:0:user\nmore:x:7:user\n"), "id -G"), "1000 7\n");
  EXPECT_EQ(tried(made("user:x:1000:0::/:/bin/sh\n", "root:x:0:\n"), "id -G"), "refused");
}

// Of large numbers, as directories of an organisation give them. No file of an image is theirs.
TEST_F(HostileImageTest, GroupsThatNoSandboxHasAreLeftOut) {
  const std::string made = image([](const fs::path& tree) {
    std::ofstream(tree / "etc/group") << "staff:x:200000:user\nmore:x:7:user\n";
  });
  EXPECT_EQ(tried(made, "id -G"), "1000 7\n");
}

TEST_F(HostileImageTest, SetUidAndOverlayMarksOfAnImageDoNothing) {
  const std::string made = image([&](const fs::path& tree) {
    fs::copy_file(tree / "bin/busybox", tree / "bin/busybox-suid");
    chmod((tree / "bin/busybox-suid").c_str(), 06755);
    mknod((tree / "etc/gone").c_str(), S_IFCHR, 0);  // a whiteout, as overlayfs stores it
  });
  EXPECT_EQ(tried(made, "/bin/busybox-suid id -u; echo done"), "1000\ndone\n");
}

TEST_F(HostileImageTest, TheImageSaysHowItIsRun) {
  std::vector<Member> members = busybox_layer();
  members[3].content += "app:x:1234:99::/app:/bin/sh\n";
  members.push_back({"app", Member::directory, "", 0755, 1234, 99});
  have_image("polite", members,
             {{"User", "app"}, {"WorkingDir", "/srv/work"}, {"Env", {"COLOUR=blue"}}});
  EXPECT_EQ(tried("polite", "id -u; id -g; pwd; echo $HOME; echo $COLOUR; touch here && ls"),
            "1234\n99\n/srv/work\n/app\nblue\nhere\n");
}

// Although it has root's group. The agent, which looks for all of a command's programs, and root
// do.
TEST_F(HostileImageTest, ANumberWithoutAnAccountSeesNoProgramsOfOthers) {
  have_image("numbered", busybox_layer(), {{"User", "1234"}});
  CreateSpec spec = node().spec();
  spec.image = "numbered";
  spec.allow_root = true;
  const std::string id = node().create(spec);
  const auto sh = [&](const std::string& user, const std::string& line) {
    Command command{.argv = {"/bin/sh", "-c", line}, .user = user};
    command.timeout = std::chrono::seconds(5);
    return node().exec(id, command).out;
  };
  // The brackets keep them from finding themselves.
  const auto programs = [](const std::string& pattern) {
    return "grep -lw '" + pattern + "' /proc/[0-9]*/cmdline 2>/dev/null | wc -l";
  };
  const std::string look = "ls -d /proc/1 2>/dev/null; " + programs("1717[1]");
  EXPECT_EQ(sh("root", "id -G; sleep 17171 >/dev/null 2>&1 &"), "0 65535\n");
  EXPECT_EQ(sh("", "id -G; " + look), "0\n0\n");
  EXPECT_EQ(sh("root", look), "/proc/1\n1\n");
  EXPECT_EQ(sh("", "(sleep 27272 &); sleep 27272"), "") << "ended after five seconds";
  EXPECT_EQ(sh("root", programs("2727[2]")), "0\n");
  run(node().provider().kill(id));
}

TEST_F(HostileImageTest, ANumberWithoutAnAccountMayWriteWhereRootsGroupMay) {
  std::vector<Member> members = busybox_layer();
  members.push_back({"srv/app", Member::directory, "", 0770});
  members.push_back({"srv/roots", Member::directory, "", 0755});
  const char* write =
      "id -G; touch /srv/app/x && echo wrote; touch /srv/roots/x 2>/dev/null || echo not";
  have_image("numbered", members, {{"User", "1234"}});
  EXPECT_EQ(tried("numbered", write), "0\nwrote\nnot\n");
  have_image("grouped", members, {{"User", "1234:77"}});
  EXPECT_EQ(tried("grouped", "id -G; touch /srv/app/x 2>/dev/null || echo not"), "77\nnot\n");
}

}  // namespace
}  // namespace sandgate::test
