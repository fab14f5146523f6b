#include <gtest/gtest.h>

#include "gateway/compat/e2b/account.hpp"
#include "gateway/compat/e2b/file_wire.hpp"
#include "gateway/compat/e2b/sandbox_address.hpp"
#include "gateway/compat/e2b/sandbox_list.hpp"
#include "gateway/compat/e2b/sandbox_view.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::compat::e2b {
namespace {

TEST(SandboxView, KnowsTwoStates) {
  SandboxRecord record{.id = SandboxId::make(), .state = SandboxState::pausing, .profile = "base"};
  record.resources.milli_vcpu = 1500;
  const Json paused = detail_json(record, "");
  EXPECT_EQ(paused["state"], "paused");
  EXPECT_EQ(paused["cpuCount"], 2);
  EXPECT_EQ(paused["domain"], Json());
  EXPECT_FALSE(paused.contains("envdAccessToken"));
  const AccessTokens tokens(Secret("k"));
  const Json made = sandbox_json(record, tokens, "d.example");
  EXPECT_EQ(made["domain"], "d.example");
  EXPECT_EQ(made["envdAccessToken"], tokens.token_of(record.id));
  EXPECT_EQ(made["trafficAccessToken"], tokens.traffic_token_of(record.id));
  EXPECT_EQ(paused["lifecycle"]["onTimeout"], "kill");
  record.on_expiry = EndAction::pause;
  EXPECT_EQ(detail_json(record, "")["lifecycle"]["onTimeout"], "pause");
  record.kill_once_resumed = true;
  EXPECT_EQ(detail_json(record, "")["lifecycle"]["onTimeout"], "kill") << "once it runs";
  EXPECT_FALSE(is_shown(SandboxState::creating));
  EXPECT_FALSE(is_shown(SandboxState::stopped));
}

TEST(SandboxList, DecodesMetadataOnceMoreThanTheQuery) {
  const auto wanted = metadata_from("a=b%2520c&x%253Dy=1");
  EXPECT_EQ(wanted, (std::map<std::string, std::string>{{"a", "b c"}, {"x=y", "1"}}));
}

TEST(SandboxList, OldListsShowWhatRuns) {
  http::Request request;
  request.caller.tenant = TenantId::make();
  request.path = "/e2b/sandboxes";
  EXPECT_EQ(list_request_from(request).filter.states.size(), 2u);
  request.path = "/e2b/v2/sandboxes";
  EXPECT_EQ(list_request_from(request).filter.states.size(), 4u);
  request.query = http::Query("state=");
  EXPECT_EQ(list_request_from(request).filter.states.size(), 4u) << "as if it were left out";
  request.query = http::Query("state=ended");
  EXPECT_THROW(list_request_from(request), Error);
  request.query = http::Query("limit=101");
  EXPECT_THROW(list_request_from(request), Error);
  request.query = http::Query("nextToken=zzz");
  EXPECT_THROW(list_request_from(request), Error);
}

TEST(SandboxList, BeginsAtEitherEnd) {
  http::Request request;
  request.caller.tenant = TenantId::make();
  request.path = "/e2b/v2/sandboxes";
  EXPECT_FALSE(list_request_from(request).filter.oldest_first);
  request.query = http::Query("order=asc&startedAfter=2026-01-02T03:04:05.5Z&limit=1");
  const ListRequest asked = list_request_from(request);
  EXPECT_TRUE(asked.filter.oldest_first);
  EXPECT_EQ(asked.filter.created_after, from_rfc3339("2026-01-02T03:04:05.5Z"));
  const SandboxRecord one{.id = SandboxId::make()}, two{.id = SandboxId::make()};
  const http::Response page = list_answer({{one, two}, 7}, asked, "");
  EXPECT_EQ(page.headers.front(), std::pair(std::string("X-Total-Running"), std::string("7")));
  const std::string token = page.headers.back().second;
  request.query = http::Query("order=asc&nextToken=" + token);
  EXPECT_EQ(list_request_from(request).filter.after->second, one.id.value);
  request.query = http::Query("nextToken=" + token);
  EXPECT_THROW(list_request_from(request), Error) << "the other order has other pages";
  for (const char* wrong : {"order=up", "startedAfter=yesterday"}) {
    request.query = http::Query(wrong);
    EXPECT_THROW(list_request_from(request), Error) << wrong;
  }
}

TEST(FileWire, ShowsAnEntry) {
  const FileEntry entry{.name = "a", .path = "/x/a", .size = 5, .mode = 0751};
  EXPECT_EQ(permissions_of(entry), "-rwxr-x--x");
  EXPECT_EQ(entry_json(entry)["size"], "5");
  EXPECT_EQ(entry_json(entry)["type"], "FILE_TYPE_FILE");
}

TEST(FileWire, ARenameIsTwoEventsAndALossIsTold) {
  const FileChange renamed{.kind = FileChangeKind::rename, .path = "/d/n", .from = "/d/o"};
  const auto events = change_events(renamed, "/d");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], Json::parse(R"({"name":"o","type":"EVENT_TYPE_RENAME"})"));
  EXPECT_EQ(events[1], Json::parse(R"({"name":"n","type":"EVENT_TYPE_CREATE"})"));
  EXPECT_THROW(change_events({.kind = FileChangeKind::overflow}, "/d"), Error);
}

TEST(FileWire, AWatchIsRefusedWhatItWouldNotGet) {
  EXPECT_FALSE(is_recursive_watch({{"path", "/d"}}));
  EXPECT_FALSE(is_recursive_watch({{"recursive", nullptr}, {"allowNetworkMounts", false}}));
  EXPECT_TRUE(is_recursive_watch({{"recursive", true}, {"includeEntry", false}}));
  for (const char* wish : {"includeEntry", "allowNetworkMounts"}) {
    const Json message{{wish, true}};
    EXPECT_EQ(test::code_of([&] { is_recursive_watch(message); }), ErrorCode::unsupported) << wish;
  }
}

TEST(Account, IsTheOwnOneOrNamed) {
  http::Request request;
  EXPECT_EQ(account_of(request), "");
  request.headers.add("Authorization", "Basic dXNlcjo=");  // user:
  EXPECT_EQ(account_of(request), "");
  http::Request root;
  root.headers.add("Authorization", "Basic cm9vdDo=");  // root:
  EXPECT_EQ(account_of(root), "root");
  EXPECT_THROW(check_own_account(root), Error);
  http::Request wrong;
  wrong.headers.add("Authorization", "Basic cm9vdDp4");  // root:x
  EXPECT_THROW(account_of(wrong), Error);
}

TEST(Paths, BeginAtTheHome) {
  EXPECT_EQ(path_from("~"), ".");
  EXPECT_EQ(path_from("~/a"), "a");
  EXPECT_EQ(path_from("/etc"), "/etc");
  EXPECT_EQ(path_from("~root"), "~root");
  try {
    path_from(std::string(5000, 'a'), "/source");
    ADD_FAILURE() << "a path of any length passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.fields.at(0).path, "/source");
  }
}

TEST(SandboxAddress, IsInTheHostOrInHeaders) {
  const SandboxId id = SandboxId::make();
  http::Request request;
  request.target = "/files";
  request.headers.add("Host", "49983-" + id.value + ".box.example");
  ASSERT_TRUE(sandbox_address(request, "box.example"));
  EXPECT_EQ(sandbox_address(request, "box.example")->sandbox, id);
  EXPECT_FALSE(sandbox_address(request, ""));
  http::Request older;
  older.target = "/files";
  older.headers.add("Host", "49983-" + id.value + "-sandgate.box.example");
  ASSERT_TRUE(sandbox_address(older, "box.example"));
  EXPECT_EQ(sandbox_address(older, "box.example")->sandbox, id);
  http::Request headers;
  headers.target = "/p/x/1/";
  headers.headers.add("E2b-Sandbox-Id", id.value);
  headers.headers.add("E2b-Sandbox-Port", "49999");
  EXPECT_EQ(sandbox_address(headers, "box.example")->port, 49999);
}

}  // namespace
}  // namespace sandgate::compat::e2b
