#pragma once
#include <map>
#include <string>

#include "tests/local/local_node.hpp"

namespace sandgate::test {

// A node whose launcher leaves walls out, for the positive controls: what is refused elsewhere
// must succeed in one of its sandboxes.
class WeakNode {
 public:
  WeakNode() : node_(0, 0, "", LocalNode::weak_agent()) {}

  LocalNode& node() { return node_; }
  // A sandbox without these walls (names with commas); made once for each set of them.
  const std::string& without(const std::string& walls);

 private:
  LocalNode node_;
  std::map<std::string, std::string> made_;
};

}  // namespace sandgate::test
