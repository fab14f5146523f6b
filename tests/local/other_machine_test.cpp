#include <gtest/gtest.h>

#include "local/local_provider.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

std::string refusal(const std::string& backend_id) {
  LocalProvider provider({.node_socket = "/nowhere/node.sock",
                          .sandboxes_dir = "/nowhere",
                          .egress_socket = "/nowhere/egress.sock",
                          .machine = "here",
                          .on_return = {}});
  const auto outcome = run(attempt(provider.find(backend_id)));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) return "an answer";
  EXPECT_EQ(error->code, ErrorCode::unavailable) << "whoever asks must not take it for lost";
  return error->what();
}

TEST(OtherMachine, ItsSandboxesAreNotUnknownHere) {
  EXPECT_EQ(refusal("sb1@there"), "the sandbox runs on the machine of another gateway");
  EXPECT_EQ(refusal("sb1@here"), "the local node does not answer");
  EXPECT_EQ(refusal("sb1"), "the local node does not answer") << "asked for by our own id";
}

}  // namespace
}  // namespace sandgate::test
