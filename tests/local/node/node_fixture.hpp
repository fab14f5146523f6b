#pragma once
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tests/local/local_node.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {

// Fixture with a node per test, and checks for traces left on the machine.
class NodeTest : public ::testing::Test {
 protected:
  explicit NodeTest(size_t warm_sandboxes = 0) : warm_sandboxes_(warm_sandboxes) {}

  void SetUp() override {
    if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
    node_ = std::make_unique<LocalNode>(0, warm_sandboxes_);
  }
  LocalNode& node() { return *node_; }

  int images_left() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(node_->data_dir() + "/disks")) {
      if (entry.is_regular_file()) ++count;
    }
    return count;
  }
  // Waits until the host's state is within `before` and no disks or journal entries are left.
  void expect_clean(const HostState& before) {
    const std::filesystem::path journal = node().run_dir() + "/sandboxes";
    const auto left = [&] {
      return !std::filesystem::exists(journal) || std::filesystem::is_empty(journal);
    };
    EXPECT_TRUE(eventually([&] {
      return node().host_state().within(before) && images_left() == 0 && left();
    })) << before
        << " became " << node().host_state() << ", " << images_left() << " disks"
        << (left() ? "" : ", entries in the journal");
  }
  // Kills the node with SIGKILL while it creates sandboxes.
  void kill_amid_creates(std::chrono::milliseconds after) {
    std::thread creator([&] {
      try {
        for (int i = 0; i < 50; ++i) node().create();
      } catch (const Error&) {
        // expected: the node was killed
      }
    });
    std::this_thread::sleep_for(after);
    ::kill(node().pid(), SIGKILL);
    creator.join();
    node().kill();
  }

  std::unique_ptr<LocalNode> node_;

 private:
  const size_t warm_sandboxes_;
};

}  // namespace sandgate::test
