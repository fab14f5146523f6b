#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/image/import.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class WorkspacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    allowed_ = directory_.path() + "/allowed";
    std::filesystem::create_directories(allowed_ + "/project");
    std::filesystem::create_directories(directory_.path() + "/secret");
    std::ofstream(allowed_ + "/project/file") << "host\n";
    std::ofstream(directory_.path() + "/secret/file") << "secret\n";
    if (::chown((allowed_ + "/project").c_str(), 1000, 1000) != 0)
      GTEST_SKIP() << "giving files away needs CAP_CHOWN";
    std::filesystem::create_directory_symlink("../secret", allowed_ + "/link");
    node_ = std::make_unique<LocalNode>(0, 0, allowed_);
  }
  CreateSpec showing(const std::string& path, bool writable = false) {
    CreateSpec spec = node_->spec();
    spec.workspace = path;
    spec.workspace_writable = writable;
    return spec;
  }
  std::optional<ErrorCode> refusal(const std::string& path) {
    try {
      node_->create(showing(path));
      return std::nullopt;
    } catch (const Error& error) {
      return error.code;
    }
  }
  std::string out(const std::string& id, const std::string& line) {
    return node_->shell(id, line).out;
  }

  TempDirectory directory_;
  std::string allowed_;
  std::unique_ptr<LocalNode> node_;
};

TEST_F(WorkspacesTest, ReadOnlyIsReadOnly) {
  const std::string id = node_->create(showing(allowed_ + "/project"));
  EXPECT_EQ(out(id, "cat /workspace/file"), "host\n");
  EXPECT_EQ(out(id, "echo x > /workspace/file || echo refused"), "refused\n");
  EXPECT_EQ(out(id, "touch /workspace/new || echo refused"), "refused\n");
}

TEST_F(WorkspacesTest, ReadWriteReachesTheHostWithTheSameIds) {
  const std::string id = node_->create(showing(allowed_ + "/project", true));
  EXPECT_EQ(out(id, "echo inside > /workspace/new && cat /workspace/new"), "inside\n");
  struct stat status {};
  ASSERT_EQ(stat((allowed_ + "/project/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1000u);
  EXPECT_EQ(out(id, "ls /workspace/.. | grep -c -e secret -e allowed"), "0\n");
}

TEST_F(WorkspacesTest, RootInsideIsNotRootOfTheHost) {
  CreateSpec spec = showing(allowed_ + "/project", true);
  spec.allow_root = true;
  const std::string id = node_->create(spec);
  const auto as_root = [&](const std::string& line) {
    return node_->shell(id, line + " 2>/dev/null || echo refused", "root").out;
  };
  EXPECT_EQ(as_root("id -u"), "0\n");
  EXPECT_EQ(as_root("cp /usr/bin/id /workspace/tool && chmod 6755 /workspace/tool"), "refused\n");
  EXPECT_EQ(as_root("echo inside >> /workspace/file"), "refused\n");
  EXPECT_EQ(as_root("chown 1000 /workspace/file"), "refused\n");
  EXPECT_EQ(as_root("cat /workspace/file"), "host\n");
  EXPECT_EQ(out(id, "echo inside > /workspace/new && cat /workspace/new"), "inside\n");
}

// Root inside may become any account of the sandbox; only the image's own has a name on the host.
TEST_F(WorkspacesTest, NoProgramOfAnotherAccountIsLeftBehind) {
  ASSERT_EQ(chmod((allowed_ + "/project").c_str(), 0777), 0);
  CreateSpec spec = showing(allowed_ + "/project", true);
  spec.allow_root = true;
  const std::string id = node_->create(spec);
  const auto leave = [&](int uid, int gid, const std::string& name) {
    const std::string ids = std::to_string(gid) + ", " + std::to_string(uid);
    return node_
        ->python(id,
                 "import os, shutil\ngid, uid = " + ids +
                     "\nos.setgroups([])\nos.setresgid(gid, gid, gid)\n"
                     "os.setresuid(uid, uid, uid)\nname = '/workspace/" +
                     name +
                     "'\ntry:\n  shutil.copy('/usr/bin/id', name)\n  os.chmod(name, 0o6755)\n"
                     "  print('left')\nexcept OSError: print('refused')",
                 "root")
        .out;
  };
  EXPECT_EQ(leave(999, 6, "both"), "refused\n");
  EXPECT_EQ(leave(999, 1000, "user"), "refused\n");
  EXPECT_EQ(leave(1000, 42, "group"), "refused\n");
  EXPECT_EQ(leave(1000, 1000, "own"), "left\n");
  for (const char* name : {"both", "user", "group"})
    EXPECT_FALSE(std::filesystem::exists(allowed_ + "/project/" + name)) << name;
  const std::string regroup = "chgrp 42 /workspace/own 2> /dev/null || echo refused";
  EXPECT_EQ(node_->shell(id, regroup, "root").out, "refused\n");
}

// That of an account which an image names by its number only.
TEST_F(WorkspacesTest, RootsGroupIsAnotherOutside) {
  if (!std::filesystem::exists("/bin/busybox"))
    GTEST_SKIP() << "needs /bin/busybox, of the package busybox-static";
  std::filesystem::remove(node_->data_dir() + "/images");
  ImageStore store(node_->data_dir() + "/images");
  const std::string layout = directory_.path() + "/layout";
  write_layout(layout, {tar_of(busybox_layer())}, {{"User", "1234"}});
  CreateSpec spec = showing(allowed_ + "/project", true);
  spec.image = import_image(store, "numeric", layout, [](std::string_view) {}).name;
  ASSERT_EQ(::chown((allowed_ + "/project").c_str(), 1234, 1234), 0);
  const std::string id = node_->create(spec);
  const auto sh = [&](const std::string& line) {
    return node_->exec(id, Command{.argv = {"/bin/sh", "-c", line}}).out;
  };
  EXPECT_EQ(sh("id -g; stat -c %g /workspace"), "0\n0\n");
  EXPECT_EQ(sh("echo new > /workspace/new && chmod 2755 /workspace/new && cat /workspace/new"),
            "new\n");
  struct stat status {};
  ASSERT_EQ(stat((allowed_ + "/project/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 1234u) << "a set-group-id program of root's would be left";
}

TEST_F(WorkspacesTest, OnlyWhatIsAllowedIsShown) {
  EXPECT_EQ(refusal(directory_.path() + "/secret"), ErrorCode::forbidden);
  EXPECT_EQ(refusal(allowed_ + "-too"), ErrorCode::forbidden);
  EXPECT_EQ(refusal("/"), ErrorCode::forbidden);
  EXPECT_EQ(refusal(allowed_ + "/link"), ErrorCode::not_found) << "no link is followed";
  EXPECT_EQ(refusal(allowed_ + "/../secret"), ErrorCode::not_found);
  EXPECT_EQ(refusal(allowed_ + "/project/file"), ErrorCode::not_found);
  EXPECT_EQ(refusal(allowed_ + "/project"), std::nullopt);
}

TEST_F(WorkspacesTest, OthersSeeNone) {
  EXPECT_EQ(out(node_->create(), "test -e /workspace || echo none"), "none\n");
}

}  // namespace
}  // namespace sandgate::test
