#include "gateway/compat/e2b/token_index.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <future>

#include "tests/events/events_world.hpp"

namespace sandgate::compat::e2b {
namespace {

TEST(TokenIndex, FindsWhoseSignatureItIsAlsoOfThoseThatJustCame) {
  sandgate::test::EventsWorld world;
  const AccessTokens tokens(Secret("key"));
  TokenIndex live(*world.database, tokens);
  const SignedFile file{.path = "a"};
  const auto whose = [&](const SandboxId& id) {
    return sandgate::test::run(live.find(file, signature_of(file, tokens.token_of(id)), "::1"));
  };
  const auto add = [&](const std::string& state) {
    const SandboxId id = world.add_sandbox(world.tenant);
    world.set_state(id, state);
    return id;
  };
  const SandboxId first = add("running");
  EXPECT_EQ(whose(first), first);
  // At once after a reading of the list: the next one is waited for.
  const SandboxId second = add("paused"), coming = add("creating");
  EXPECT_EQ(whose(second), second);
  EXPECT_EQ(whose(first), first);
  EXPECT_EQ(whose(coming), std::nullopt);
  EXPECT_EQ(sandgate::test::run(live.find(file, "v1_nonsense", "::1")), std::nullopt);
}

TEST(TokenIndex, FindsWhoseTokenItIsAlsoOnTheWayToAPauseAndBack) {
  sandgate::test::EventsWorld world;
  const AccessTokens tokens(Secret("key"));
  TokenIndex live(*world.database, tokens);
  const auto found = [&](const std::string& token) {
    return sandgate::test::run(live.find(token));
  };
  std::vector<SandboxId> boxes;
  for (const char* state : {"running", "pausing", "paused", "resuming"}) {
    boxes.push_back(world.add_sandbox(world.tenant));
    world.set_state(boxes.back(), state);
    for (const SandboxId& one : boxes) EXPECT_EQ(found(tokens.token_of(one)), one) << state;
  }
  const SandboxId coming = world.add_sandbox(world.tenant);
  EXPECT_EQ(found(tokens.token_of(coming)), std::nullopt);
  EXPECT_EQ(found(AccessTokens(Secret("other")).token_of(boxes[0])), std::nullopt);
  for (const auto* wrong : {"", "0", "sb"}) EXPECT_EQ(found(wrong), std::nullopt) << wrong;
  std::string spelled = tokens.token_of(boxes[0]);
  for (char& c : spelled) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(found(spelled), std::nullopt);
}

TEST(TokenIndex, SearchesForOneAddressOnlySoOften) {
  sandgate::test::EventsWorld world;
  const SandboxId first = world.add_sandbox(world.tenant);
  world.set_state(first, "running");
  // Enough that a search gives way to others.
  world.sql(
      "CREATE TEMP TABLE more AS SELECT sandbox.* FROM sandbox, generate_series(1, 600);"
      "UPDATE more SET id = 'sb' || substr(md5(random()::text), 1, 24);"
      "INSERT INTO sandbox SELECT * FROM more; DROP TABLE more");
  const AccessTokens tokens(Secret("key"));
  TokenIndex live(*world.database, tokens);
  const SignedFile file{.path = "a"};
  const std::string right = signature_of(file, tokens.token_of(first));
  EXPECT_EQ(sandgate::test::run(live.find(file, right, "2001:db8::1")), first);

  sandgate::test::BorrowedLoop loop;
  std::vector<std::future<std::optional<SandboxId>>> searches;
  const auto search = [&](const std::string& signature, const std::string& address) {
    searches.push_back(
        asio::co_spawn(*loop, live.find(file, signature, address), asio::use_future));
  };
  for (size_t i = 0; i < TokenIndex::kMaxOfOne; ++i)
    search("wrong", "2001:db8::" + std::to_string(i + 1));
  search(right, "2001:db8::ff");
  search(right, "2001:db8:0:1::1");
  search(right, "192.0.2.1");
  (*loop).run();
  for (size_t i = 0; i < TokenIndex::kMaxOfOne; ++i) EXPECT_EQ(searches[i].get(), std::nullopt);
  EXPECT_THROW(searches[TokenIndex::kMaxOfOne].get(), Error);
  EXPECT_EQ(searches[TokenIndex::kMaxOfOne + 1].get(), first);
  EXPECT_EQ(searches[TokenIndex::kMaxOfOne + 2].get(), first);
}

}  // namespace
}  // namespace sandgate::compat::e2b
