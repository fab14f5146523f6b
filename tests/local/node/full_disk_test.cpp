#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "local/namespaces/step_error.hpp"
#include "local/node/storage/disk_space.hpp"
#include "tests/local/frozen_disk.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/node/node_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::test {
namespace {

constexpr size_t kMib = 1 << 20;

std::string noise(size_t bytes) {
  std::mt19937_64 random(bytes);
  std::string text(bytes, '\0');
  for (char& one : text) one = static_cast<char>(random());
  return text;
}

// A node whose disks lie on a file system that fills up.
class FullDiskTest : public NodeTest {
 protected:
  void SetUp() override {
    NodeTest::SetUp();
    if (IsSkipped()) return;
    if (!node().provider().descriptor().can(Verb::snapshot)) GTEST_SKIP() << kNeedsDisks;
    disk_ = &node().move_to_small_disk(400);
  }

  std::optional<ErrorCode> upload(const std::string& id, const std::string& path, size_t mib) {
    TextBytes source(noise(mib * kMib));
    return code_of(node().provider().write_file(id, path, 0644, source));
  }
  // Not as the kernel remembers it, but as it is on the disk.
  std::string digest(const std::string& id, const std::string& path) {
    return node()
        .shell(id, "dd bs=1M iflag=direct status=none if=$HOME/" + path + " | sha256sum")
        .out.substr(0, 64);
  }

  const SmallDisk* disk_ = nullptr;
};

TEST_F(FullDiskTest, WhatIsAcknowledgedIsThere) {
  const std::string id = node().create();
  disk_->fill(60);
  EXPECT_EQ(upload(id, "kept", 16), std::nullopt);
  const std::string tar = tar_of(
      {{.name = "a", .content = noise(28 * kMib)}, {.name = "b", .content = noise(28 * kMib)}});
  TextBytes source(tar);
  EXPECT_EQ(code_of(node().provider().write_archive(id, "archive", source)),
            ErrorCode::quota_exceeded);
  EXPECT_EQ(upload(id, "lost", 80), ErrorCode::quota_exceeded);
  EXPECT_EQ(code_of(node().provider().stat(id, "lost")), ErrorCode::not_found);
  EXPECT_EQ("sha256:" + digest(id, "kept"), sha256_of(noise(16 * kMib)));
  EXPECT_EQ(node().shell(id, "echo on").out, "on\n");
}

TEST_F(FullDiskTest, BelowTheFloorNothingIsBegun) {
  const std::string id = node().create();
  EXPECT_EQ(upload(id, "file", 50), std::nullopt);
  disk_->fill(40);
  EXPECT_EQ(code_of(node().provider().snapshot(id, "sn1", Keeps::disk, true)),
            ErrorCode::no_capacity)
      << "it would go below";
  disk_->fill(10);
  EXPECT_EQ(code_of(node().provider().create(node().spec())), ErrorCode::no_capacity);
  const auto seen = node().provider().disk();
  ASSERT_TRUE(seen);
  EXPECT_LT(seen->free_bytes, seen->floor_bytes);
  EXPECT_TRUE(std::filesystem::is_empty(node().data_dir() + "/snapshots"));
  node().kill();
  node().start();
  EXPECT_TRUE(node().provider().descriptor().can(Verb::snapshot)) << "a full disk is a disk";
  EXPECT_EQ(node().shell(id, "echo on").out, "on\n");
  disk_->give_back();
  EXPECT_EQ(code_of(node().provider().create(node().spec())), std::nullopt);
  EXPECT_EQ(code_of(node().provider().snapshot(id, "sn2", Keeps::disk, true)), std::nullopt);
}

// A node whose journal is on a small file system in memory.
class FullJournalTest : public NodeTest {
 protected:
  void SetUp() override {
    NodeTest::SetUp();
    if (IsSkipped()) return;
    node().stop();
    check(mount("none", node().run_dir().c_str(), "tmpfs", 0, "size=1m,mode=711"), "mount");
    mounted_ = true;
    node().start();
  }
  void TearDown() override {
    if (!mounted_) return;
    node().stop();
    check(umount2(node().run_dir().c_str(), MNT_DETACH), "unmount");
  }
  std::string filler() { return node().run_dir() + "/filler"; }

  bool mounted_ = false;
};

TEST_F(FullJournalTest, TheNodeStartsAndEndsSandboxes) {
  const std::string id = node().create(), ended = node().create();
  {
    std::ofstream file(filler());
    while (file << 'x' && file.flush()) {
    }
  }
  node().kill();
  node().start();
  EXPECT_EQ(node().shell(id, "echo on").out, "on\n");
  EXPECT_EQ(code_of(node().provider().create(node().spec())), ErrorCode::no_capacity);
  EXPECT_EQ(code_of(node().provider().kill(ended)), std::nullopt);
  std::filesystem::remove(filler());
  const BackendSandbox made = run(node().provider().create(node().spec()));
  // Nobody else could: the journal goes with the test.
  for (const std::string& one : {id, made.backend_id}) run(node().provider().kill(one));
}

}  // namespace
}  // namespace sandgate::test
