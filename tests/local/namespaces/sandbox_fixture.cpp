#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {

LocalNode* SandboxTest::node_ = nullptr;
std::string* SandboxTest::id_ = nullptr;

void SandboxTest::SetUpTestSuite() {
  if (!LocalNode::reason_to_skip().empty()) return;
  setenv("SANDGATE_CANARY", "canary-of-the-host", 1);
  node_ = new LocalNode();
  CreateSpec spec = node_->spec();
  spec.allow_root = true;
  id_ = new std::string(node_->create(spec));
}

void SandboxTest::TearDownTestSuite() {
  delete node_;
  delete id_;
  node_ = nullptr;
  id_ = nullptr;
}

void SandboxTest::SetUp() {
  if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  ASSERT_NE(id_, nullptr) << "the suite was not set up";
}

std::string SandboxTest::output(const std::string& line, const std::string& user) {
  ExecResult result = shell(line, user);
  EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
  while (!result.out.empty() && result.out.back() == '\n') result.out.pop_back();
  return result.out;
}

}  // namespace sandgate::test
