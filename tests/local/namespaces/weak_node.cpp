#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {

const std::string& WeakNode::without(const std::string& walls) {
  std::string& id = made_[walls];
  if (id.empty()) {
    CreateSpec spec = node_.spec();
    spec.allow_root = true;
    spec.resources.processes = 1000;
    spec.env["SANDGATE_WITHOUT"] = walls;
    id = node_.create(spec);
  }
  return id;
}

WeakNode* WeakTest::weak_ = nullptr;

void WeakTest::SetUpTestSuite() {
  if (LocalNode::reason_to_skip().empty()) weak_ = new WeakNode;
}

void WeakTest::TearDownTestSuite() {
  delete weak_;
  weak_ = nullptr;
}

void WeakTest::SetUp() {
  if (std::string reason = LocalNode::reason_to_skip(); !reason.empty()) GTEST_SKIP() << reason;
  ASSERT_NE(weak_, nullptr) << "the suite was not set up";
}

}  // namespace sandgate::test
