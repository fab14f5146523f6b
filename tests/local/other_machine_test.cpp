#include <gtest/gtest.h>

#include "local/local_provider.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kElsewhere = "it is on the machine of another gateway";

template <class Call>
std::string refusal_of(Call call) {
  LocalProvider provider({.node_socket = "/nowhere/node.sock",
                          .sandboxes_dir = "/nowhere",
                          .egress_socket = "/nowhere/egress.sock",
                          .machine = "here",
                          .on_return = {}});
  const auto outcome = run(attempt(call(provider)));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) return "an answer";
  EXPECT_EQ(error->code, ErrorCode::unavailable) << "whoever asks must not take it for lost";
  return error->what();
}

std::string refusal(const std::string& backend_id) {
  return refusal_of([&](LocalProvider& provider) { return provider.find(backend_id); });
}

TEST(OtherMachine, ItsSandboxesAreNotUnknownHere) {
  EXPECT_EQ(refusal("sb1@there"), kElsewhere);
  EXPECT_EQ(refusal("sb1@here"), "the local node does not answer");
  EXPECT_EQ(refusal("sb1"), "the local node does not answer") << "asked for by our own id";
}

TEST(OtherMachine, NorAreItsSnapshots) {
  const auto removal = [](const std::string& snapshot) {
    return refusal_of([&](LocalProvider& provider) { return provider.remove_snapshot(snapshot); });
  };
  const auto restore = [](const std::string& snapshot) {
    return refusal_of([&](LocalProvider& provider) {
      return provider.create({.sandbox_id = "sb1", .snapshot = snapshot});
    });
  };
  for (const auto& refused : {removal("sn1@there"), restore("sn1@there")})
    EXPECT_EQ(refused, kElsewhere);
  for (const char* here : {"sn1@here", "sn1"}) {
    EXPECT_EQ(removal(here), "the local node does not answer");
    EXPECT_EQ(restore(here), "the local node does not answer");
  }
}

}  // namespace
}  // namespace sandgate::test
