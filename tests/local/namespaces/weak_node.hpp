#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/local/local_node.hpp"

namespace sandgate::test {

// A node whose launcher can omit walls, for positive controls: attacks that are refused elsewhere
// must succeed in its sandboxes.
class WeakNode {
 public:
  WeakNode() : node_(0, 0, "", LocalNode::weak_agent()) {}

  LocalNode& node() { return node_; }
  // Returns the id of a sandbox without these walls (comma-separated names), one per set of walls.
  const std::string& without(const std::string& walls);

 private:
  LocalNode node_;
  std::map<std::string, std::string> made_;
};

// Tests of one suite share a weak node.
class WeakTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  static LocalNode& node() { return weak_->node(); }
  static const std::string& without(const std::string& walls) { return weak_->without(walls); }

 private:
  static WeakNode* weak_;
};

}  // namespace sandgate::test
