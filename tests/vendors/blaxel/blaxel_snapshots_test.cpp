#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "providers/blaxel/blaxel.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What the adapter does for an account that may take snapshots; the others do not declare them.
namespace sandgate::test {
namespace {

VendorLine line_with_snapshots() {
  for (VendorLine line : vendor_lines())
    if (line.name == "blaxel") {
      line.settings = [](const std::string& url) {
        return Json{{"api_url", url + "/v0"}, {"workspace", "sandgate"}, {"snapshots", true}};
      };
      return line;
    }
  throw std::logic_error("no such line");
}

class BlaxelSnapshots : public testing::Test {
 protected:
  BackendSandbox create(const std::string& snapshot = "") {
    CreateSpec spec{.sandbox_id = SandboxId::make().value,
                    .image = "tools",
                    .env = {{"WHO", snapshot.empty() ? "first" : "fork"}},
                    .network = {.fallback = NetworkDefault::allow},
                    .snapshot = snapshot};
    return loop_.run(provider().create(std::move(spec)));
  }
  std::string printed(const BackendSandbox& box, const std::string& shell) {
    Command command{.shell = shell, .process_id = ProcessId::make().value};
    auto stream = loop_.run(provider().exec(box.backend_id, std::move(command)));
    std::string out;
    while (const auto event = loop_.run(stream->next()))
      if (const auto* chunk = std::get_if<OutputChunk>(&*event)) out += chunk->bytes;
    return out;
  }
  Provider& provider() { return vendor_.provider(); }

  LiveLoop loop_;
  Vendor vendor_{line_with_snapshots(), loop_.executor()};
};

TEST_F(BlaxelSnapshots, ForksStartFromWhatWasThen) {
  EXPECT_EQ(provider().descriptor().verbs.at(Verb::fork), Keeps::memory);
  const BackendSandbox first = create();
  printed(first, "echo then > file");
  const std::string ours = SnapshotId::make().value;
  const auto taken =
      loop_.run(provider().snapshot(first.backend_id, ours, Keeps::memory, /*lasting=*/true));
  EXPECT_EQ(taken.kept, Keeps::memory);
  printed(first, "echo now > file");
  const auto again =
      loop_.run(provider().snapshot(first.backend_id, ours, Keeps::memory, /*lasting=*/true));
  EXPECT_EQ(again.backend_id, taken.backend_id);
  loop_.run(provider().kill(first.backend_id));
  for (int i = 0; i < 2; ++i) {
    const BackendSandbox fork = create(taken.backend_id);
    EXPECT_EQ(printed(fork, "cat file; echo $WHO; echo mine > file"), "then\nfork\n");
    EXPECT_EQ(loop_.run(provider().find_by_tag(fork.sandbox_id))->backend_id, fork.backend_id);
    loop_.run(provider().kill(fork.backend_id));
  }
  EXPECT_EQ(loop_.run(provider().find_snapshot(ours))->backend_id, taken.backend_id);
  loop_.run(provider().remove_snapshot(taken.backend_id));
  loop_.run(provider().remove_snapshot(taken.backend_id));
  EXPECT_FALSE(loop_.run(provider().find_snapshot(ours)));
  EXPECT_EQ(vendor_.server().state()["boxes"], Json::array());
}

TEST_F(BlaxelSnapshots, ARepeatAfterALostAnswerWaitsUntilTheSnapshotIsThere) {
  const BackendSandbox first = create();
  const std::string ours = SnapshotId::make().value;
  const auto take = [&] {
    return loop_.run(provider().snapshot(first.backend_id, ours, Keeps::memory, /*lasting=*/true));
  };
  vendor_.server().fault({{"match", "POST /v0/snapshots$"}, {"kind", "lost_reply"}, {"times", 1}});
  EXPECT_THROW(take(), Error);
  const BackendSandbox fork = create(take().backend_id);
  loop_.run(provider().kill(fork.backend_id));
  loop_.run(provider().kill(first.backend_id));
}

HttpReply blaxel_box(const std::string& name, const char* status) {
  const Json box{{"metadata", {{"name", name}}}, {"status", status}};
  return {200, {}, box.dump()};
}

TEST(BlaxelAccount, WhatFailedIsRemovedOrLeftToBeKilled) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider = std::make_shared<BlaxelProvider>(client, loop.executor(), BlaxelSettings{});
  CreateSpec spec{.sandbox_id = SandboxId::make().value,
                  .network = {.fallback = NetworkDefault::allow}};
  const std::string name = spec.sandbox_id;
  for (const char* first : {"DEPLOYING", "FAILED"}) {
    client.script({blaxel_box(name, first)});
    client.always(blaxel_box(name, "FAILED"));
    const auto made = loop.run(attempt(provider->create(spec)));
    ASSERT_TRUE(std::holds_alternative<Error>(made));
    EXPECT_EQ(std::get<Error>(made).code, ErrorCode::no_capacity);
    EXPECT_EQ(client.last().method, "DELETE");
  }
  const Json ours = Json::parse(blaxel_box(name, "FAILED").body);
  const Json other = Json::parse(blaxel_box("theirs", "FAILED").body);
  client.always({200, {}, Json{{"data", Json::array({ours, other})}}.dump()});
  const auto listed = loop.run(provider->list());
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].backend_id, name);
  EXPECT_EQ(listed[0].state, BackendState::gone);
}

// A record can be read only some time after its create was accepted.
TEST(BlaxelAccount, AnAcceptedSandboxIsWaitedForUntilItHasARecord) {
  LiveLoop loop;
  ScriptedClient client;
  const auto provider = std::make_shared<BlaxelProvider>(client, loop.executor(), BlaxelSettings{});
  CreateSpec spec{.sandbox_id = SandboxId::make().value,
                  .network = {.fallback = NetworkDefault::allow}};
  const std::string name = spec.sandbox_id;
  const HttpReply none{404, {}, R"({"code": 404, "error": "not found"})"};
  const HttpReply accepted = blaxel_box(name, "DEPLOYING"), runs = blaxel_box(name, "DEPLOYED");
  client.script({accepted, none, none, accepted, runs});
  EXPECT_EQ(loop.run(provider->create(spec)).backend_id, name);
  EXPECT_EQ(client.calls().size(), 5u);
  spec.snapshot = "snap-1";
  const HttpReply forked{200, {}, R"({"targetType": "sandbox"})"};
  client.script({forked, none, none, runs});
  client.always(none);  // the extension, whose failure is logged
  EXPECT_EQ(loop.run(provider->create(spec)).backend_id, name);
  for (const HttpCall& call : client.calls()) EXPECT_NE(call.method, "DELETE");
}

}  // namespace
}  // namespace sandgate::test
