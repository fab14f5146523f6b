#include "providers/sandbox_pages.hpp"

#include <gtest/gtest.h>

#include "providers/named_create.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

SandboxPage read(const Json& document) {
  SandboxPage page;
  for (const Json& item : document.at("items")) {
    const auto id = item.get<std::string>();
    page.sandboxes.push_back({.backend_id = id, .sandbox_id = id == "foreign" ? "" : id});
    if (id == "gone") page.sandboxes.back().state = BackendState::gone;
  }
  page.next = next_query("cursor", document.value("next", ""));
  return page;
}

std::vector<std::string> listed(test::ScriptedClient& client) {
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  std::vector<std::string> ids;
  for (const auto& sandbox : test::run(list_pages(api, "/boxes?limit=2", &read)))
    ids.push_back(sandbox.backend_id);
  return ids;
}

TEST(SandboxPages, AreReadToTheLast) {
  test::ScriptedClient client;
  client.script({{200, {}, R"({"items":["a","foreign"],"next":"1&2"})"},
                 {200, {}, R"({"items":["gone","b"]})"}});
  EXPECT_EQ(listed(client), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(client.asked(), (std::vector<std::string>{"GET http://x/boxes?limit=2",
                                                      "GET http://x/boxes?limit=2&cursor=1%262"}));
}

TEST(SandboxPages, WhatIsLeftOfEndedSandboxesIsListedAsGone) {
  const auto left = [](const Json& document) {
    SandboxPage page = read(document);
    std::swap(page.sandboxes, page.remains);
    return page;
  };
  test::ScriptedClient client;
  client.always({200, {}, R"({"items":["a","foreign"]})"});
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  const auto listed = test::run(list_pages(api, "/boxes?limit=2", left));
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].backend_id, "a");
  EXPECT_EQ(listed[0].state, BackendState::gone);
  ListBudget budget("x", 1, 1);
  auto listing = attempt(list_pages(api, "/boxes?limit=2", left, budget));
  EXPECT_TRUE(std::holds_alternative<Error>(test::run(std::move(listing)))) << "they take room too";
}

TEST(SandboxPages, AListWithoutAnEndIsAnError) {
  std::deque<HttpReply> pages;
  for (int i = 0; i <= 1000; ++i)
    pages.push_back({200, {}, Json{{"items", Json::array()}, {"next", std::to_string(i)}}.dump()});
  test::ScriptedClient client;
  client.script(std::move(pages));
  EXPECT_EQ(test::code_of([&] { listed(client); }), ErrorCode::unavailable);
  EXPECT_EQ(client.asked().size(), 1000U);
}

// The vendor would be asked for all the pages there may be, at each look at the list.
TEST(SandboxPages, AListThatLeadsBackIsNotFollowed) {
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"a", "a"}, {"a", "b", "c", "a"}}) {
    std::deque<HttpReply> pages;
    for (const std::string& next : way)
      pages.push_back({200, {}, Json{{"items", Json::array()}, {"next", next}}.dump()});
    test::ScriptedClient client;
    client.script(std::move(pages));
    EXPECT_EQ(test::code_of([&] { listed(client); }), ErrorCode::unavailable);
    EXPECT_EQ(client.asked().size(), way.size());
  }
}

// How many of two pages with three entries are read before there is no room for more.
size_t pages_read(ListBudget budget) {
  test::ScriptedClient client;
  client.script({{200, {}, R"({"items":["a","b"],"next":"1"})"}, {200, {}, R"({"items":["c"]})"}});
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  auto listing = attempt(list_pages(api, "/boxes?limit=2", &read, budget));
  const auto outcome = test::run(std::move(listing));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) return std::get<0>(outcome).size() == 3 ? 2 : 0;
  EXPECT_EQ(error->code, ErrorCode::unavailable);
  EXPECT_EQ(error->provider, "x");
  return client.asked().size() - 1;
}

TEST(SandboxPages, HaveRoomForSoMuchOverAllPages) {
  EXPECT_EQ(pages_read(ListBudget("x", 2, 3, 45)), 2U);
  EXPECT_EQ(pages_read(ListBudget("x", 1, 3, 45)), 0U) << "pages: the second is not asked for";
  EXPECT_EQ(pages_read(ListBudget("x", 2, 2, 45)), 1U) << "entries";
  EXPECT_EQ(pages_read(ListBudget("x", 2, 3, 44)), 1U) << "bytes";
}

// What a create makes of the vendor's reply, when an earlier attempt is there or is not.
Outcome<std::string> created(int status, std::optional<std::string> earlier) {
  static constexpr ErrorCode kTaken[] = {ErrorCode::conflict};
  test::ScriptedClient client;
  client.always({status, {}, R"("new")"});
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  const auto find = [earlier]() -> Task<std::optional<std::string>> { co_return earlier; };
  const auto text = [](const Json& document) { return document.get<std::string>(); };
  auto creating = create_named(api, {.method = "POST", .path = "/boxes"}, kTaken, text, find);
  auto outcome = test::run(attempt(std::move(creating)));
  if (const auto* error = std::get_if<Error>(&outcome)) return *error;
  return std::get<0>(outcome).value_or("nothing");
}

TEST(NamedCreate, ATakenNameIsTheEarlierAttempts) {
  EXPECT_EQ(std::get<std::string>(created(200, "old")), "new");
  EXPECT_EQ(std::get<std::string>(created(409, "old")), "old");
  EXPECT_EQ(std::get<Error>(created(409, std::nullopt)).code, ErrorCode::no_capacity);
  EXPECT_EQ(std::get<Error>(created(400, "old")).code, ErrorCode::no_capacity);
  EXPECT_EQ(std::get<Error>(created(503, "old")).code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sandgate
