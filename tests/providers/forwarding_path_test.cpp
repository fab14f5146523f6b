#include "providers/forwarding_path.hpp"

#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

using test::code_of;

TEST(ForwardingPath, AreReadAsTheyAreWritten) {
  for (const ForwardingPath& path : {ForwardingPath{"a1"}, ForwardingPath{"a1", "b2", "c3"},
                                     ForwardingPath{std::string(64, 'a')}})
    EXPECT_EQ(forwarding_path_from(via_of(path)), path);
  EXPECT_EQ(via_of({"a1", "b2"}), "a1, b2");
  for (const std::string text : {"", ",", "a1,b2", "a1, ", ", a1", "A1", "a-1", "a1 b2", "a1,  b2"})
    EXPECT_EQ(code_of([&] { forwarding_path_from(text); }), ErrorCode::invalid) << text;
  EXPECT_EQ(code_of([&] { forwarding_path_from(std::string(65, 'a')); }), ErrorCode::invalid);
}

TEST(ForwardingPath, NoneTwiceAndNotMoreThanEight) {
  ForwardingPath path;
  for (char name = 'a'; name < 'i'; ++name) {
    EXPECT_FALSE(code_of([&] { check_can_forward(path, "own"); })) << path.size();
    path.emplace_back(1, name);
  }
  EXPECT_EQ(code_of([&] { check_can_forward(path, "own"); }), ErrorCode::unsupported);
  for (const char* own : {"a", "b"})
    EXPECT_EQ(code_of([&] { check_can_forward({"a", "b"}, own); }), ErrorCode::unsupported) << own;
}

// What an adapter for other gateways sends with the create of `spec`; empty: no such field.
std::string sent_with(CreateSpec spec) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  client.always({201, {}, R"({"id":"sb1","state":"running"})"});
  auto provider = std::make_shared<SandgateProvider>(
      client, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  loop.run(provider->create(std::move(spec)));
  return std::string(find_field(client.last().headers, kViaHeader).value_or(""));
}

TEST(ForwardingPath, AreToldToTheNextWithOurOwn) {
  EXPECT_EQ(sent_with({.sandbox_id = "sb1", .installation = "own"}), "own");
  EXPECT_EQ(
      sent_with({.sandbox_id = "sb1", .installation = "own", .forwarding_path = {"a1", "b2"}}),
      "a1, b2, own");
  EXPECT_EQ(sent_with({.sandbox_id = "sb1"}), "");
}

}  // namespace
}  // namespace sandgate
