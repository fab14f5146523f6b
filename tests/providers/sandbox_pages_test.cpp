#include "providers/sandbox_pages.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "providers/named_create.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

// Answers calls in the order of its replies, and keeps what was asked.
class ScriptedClient : public HttpClient {
 public:
  Task<HttpReply> call(HttpCall call) override {
    asked.push_back(call.method + " " + call.url);
    HttpReply reply = replies.size() > 1 ? replies.front() : replies.back();
    if (replies.size() > 1) replies.pop_front();
    co_return reply;
  }
  Task<std::unique_ptr<HttpStream>> stream(HttpCall) override {
    throw Error(ErrorCode::unsupported, "nothing is streamed here");
    co_return nullptr;
  }

  std::deque<HttpReply> replies;
  std::vector<std::string> asked;
};

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

std::vector<std::string> listed(ScriptedClient& client) {
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  std::vector<std::string> ids;
  for (const auto& sandbox : test::run(list_pages(api, "/boxes?limit=2", &read)))
    ids.push_back(sandbox.backend_id);
  return ids;
}

TEST(SandboxPages, AreReadToTheLast) {
  ScriptedClient client;
  client.replies = {{200, {}, R"({"items":["a","foreign"],"next":"1&2"})", {}},
                    {200, {}, R"({"items":["gone","b"]})", {}}};
  EXPECT_EQ(listed(client), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(client.asked, (std::vector<std::string>{"GET http://x/boxes?limit=2",
                                                    "GET http://x/boxes?limit=2&cursor=1%262"}));
}

TEST(SandboxPages, AListWithoutAnEndIsCutOff) {
  ScriptedClient client;
  client.replies = {{200, {}, R"({"items":[],"next":"again"})", {}}};
  EXPECT_TRUE(listed(client).empty());
  EXPECT_EQ(client.asked.size(), 1000U);
}

// What a create makes of the vendor's reply, when an earlier attempt is there or is not.
Outcome<std::string> created(int status, std::optional<std::string> earlier) {
  static constexpr ErrorCode kTaken[] = {ErrorCode::conflict};
  ScriptedClient client;
  client.replies = {{status, {}, R"("new")", {}}};
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
