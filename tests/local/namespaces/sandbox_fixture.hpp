#pragma once
#include <gtest/gtest.h>

#include <string>

#include "tests/local/local_node.hpp"

namespace sandgate::test {

// Fixture with one node and one sandbox, which allows root, for all tests of a suite.
class SandboxTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  static LocalNode& node() { return *node_; }
  static const std::string& id() { return *id_; }
  static ExecResult shell(const std::string& line, const std::string& user = "") {
    return node().shell(id(), line, user);
  }
  static ExecResult python(const std::string& program, const std::string& user = "") {
    return node().python(id(), program, user);
  }
  // Returns the output of a command line that must succeed, without the last newline.
  static std::string output(const std::string& line, const std::string& user = "");

 private:
  static LocalNode* node_;
  static std::string* id_;
};

}  // namespace sandgate::test
