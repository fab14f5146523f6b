#include "providers/e2b/e2b.hpp"

#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

class E2bAccount : public testing::Test {
 protected:
  LiveLoop loop_;
  ScriptedClient client_;
  std::shared_ptr<E2bProvider> provider_ =
      std::make_shared<E2bProvider>(client_, loop_.executor(), E2bSettings{});
};

HttpReply page_of(std::string entries, std::string next = "") {
  return {200, {{"X-Next-Token", std::move(next)}}, std::move(entries)};
}

TEST_F(E2bAccount, ASnapshotIsKnownByItsNameThoughTheServerListsAll) {
  const std::string others = R"([{"snapshotID":"t1","names":["team/snother:default",7]},
                                 {"snapshotID":"t2"}])";
  const std::string ours = R"([{"snapshotID":"t3","names":["team/snours:default"]}])";
  client_.script({page_of(others, "more"), page_of(ours)});
  EXPECT_EQ(loop_.run(provider_->find_snapshot("snours"))->backend_id, "t3");
  EXPECT_NE(client_.last().url.find("nextToken=more"), std::string::npos);
  client_.script({page_of(others), page_of(R"([{"snapshotID":"t4","names":["snours"]}])")});
  EXPECT_FALSE(loop_.run(provider_->find_snapshot("snours")));
  EXPECT_EQ(loop_.run(provider_->find_snapshot("snours"))->backend_id, "t4");
}

TEST_F(E2bAccount, ATimeThatIsCutIsRefused) {
  const auto extend = [this](std::chrono::seconds kept) {
    const Json box{{"endAt", to_rfc3339(SystemClock().now() + kept)}};
    client_.script({{204, {}, ""}, {200, {}, box.dump()}});
    return loop_.run(attempt(provider_->extend("i1", std::chrono::seconds(600))));
  };
  EXPECT_FALSE(std::holds_alternative<Error>(extend(std::chrono::seconds(598))));
  const auto cut = extend(std::chrono::seconds(300));
  ASSERT_TRUE(std::holds_alternative<Error>(cut));
  EXPECT_EQ(std::get<Error>(cut).code, ErrorCode::invalid);
  EXPECT_EQ(std::get<Error>(cut).fields.at(0).path, "/ttl_seconds");
}

// A tenant's wish must not open the breaker that a refused key opens for all tenants.
TEST_F(E2bAccount, ATimeThatTheAccountMayNotHaveIsNoWrongKey) {
  const auto extend = [this](int status) {
    const Json box{{"endAt", to_rfc3339(SystemClock().now() + std::chrono::seconds(60))}};
    client_.script({{status, {}, "{}"}, {200, {}, box.dump()}});
    return loop_.run(attempt(provider_->extend("i1", std::chrono::seconds(600))));
  };
  for (const int status : {400, 403}) {
    const auto refused = extend(status);
    ASSERT_TRUE(std::holds_alternative<Error>(refused)) << status;
    EXPECT_FALSE(are_credentials_refused(std::get<Error>(refused))) << status;
    EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::invalid) << status;
    EXPECT_EQ(std::get<Error>(refused).fields.at(0).path, "/ttl_seconds") << status;
  }
  EXPECT_TRUE(are_credentials_refused(std::get<Error>(extend(401))));
}

// The answer to a pause was lost, and the repeat finds the sandbox paused.
TEST_F(E2bAccount, ARepeatedPauseSaysWhatTheFirstOneKept) {
  const auto kept = [this](Keeps asked, const std::string& mode) {
    Json box{{"sandboxID", "i1"}, {"state", "paused"}};
    if (!mode.empty()) box["pauseMode"] = mode;
    client_.script({{409, {}, "{}"}, {200, {}, box.dump()}});
    return loop_.run(provider_->pause("i1", asked));
  };
  EXPECT_EQ(kept(Keeps::memory, "full"), Keeps::memory);
  EXPECT_EQ(kept(Keeps::memory, "filesystem"), Keeps::disk);
  EXPECT_EQ(kept(Keeps::disk, "filesystem"), Keeps::disk);
  EXPECT_EQ(kept(Keeps::memory, ""), Keeps::memory);
  EXPECT_EQ(kept(Keeps::disk, ""), Keeps::disk) << "an older server";
}

TEST_F(E2bAccount, AMemoryIsNotGivenUpForAnotherRefusal) {
  const Json paused{{"sandboxID", "i1"}, {"state", "paused"}};
  client_.script({{409, {}, "{}"}, {200, {}, paused.dump()}});
  const auto refused = loop_.run(attempt(provider_->resume("i1")));
  EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::conflict);
}

TEST_F(E2bAccount, APausedSandboxHasNoEndToBeMoved) {
  const auto extend = [this](HttpReply box) {
    client_.script({{404, {}, R"({"code":404})"}, std::move(box)});
    return loop_.run(attempt(provider_->extend("i1", std::chrono::seconds(600))));
  };
  const Json paused{{"state", "paused"}, {"endAt", "2026-01-01T00:00:00Z"}};
  EXPECT_FALSE(std::holds_alternative<Error>(extend({200, {}, paused.dump()})));
  for (const HttpReply& box :
       {HttpReply{200, {}, R"({"state":"running"})"}, HttpReply{404, {}, R"({"code":404})"}}) {
    const auto refused = extend(box);
    ASSERT_TRUE(std::holds_alternative<Error>(refused)) << box.status;
    EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::not_found) << box.status;
  }
}

// The create fails for it, since the machine is taken: the first one's token has to stay right.
TEST_F(E2bAccount, AnIdThatIsAnsweredTwiceKeepsItsToken) {
  const auto answer = [](const char* token) {
    return HttpReply{
        201, {}, R"({"sandboxID":"i1","envdAccessToken":")" + std::string(token) + "\"}"};
  };
  client_.script({answer("right"),
                  answer("wrong"),
                  answer("right"),
                  {200, {}, R"({"entry":{"name":"f","path":"/f","type":"FILE_TYPE_FILE"}})"}});
  for (int creates = 0; creates < 2; ++creates)
    loop_.run(provider_->create({.sandbox_id = SandboxId::make().value, .image = "base"}));
  loop_.run(attempt(provider_->stat("i1", "/f")));
  EXPECT_EQ(find_field(client_.last().headers, "X-Access-Token"), "right");
}

// With a sandbox of the fake.
class E2bSandbox : public testing::Test {
 protected:
  void SetUp() override {
    for (const VendorLine& line : vendor_lines())
      if (line.name == "e2b") vendor_ = std::make_unique<Vendor>(line, loop_.executor());
    CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = "base"};
    id_ = loop_.run(provider().create(std::move(spec))).backend_id;
  }
  void TearDown() override { loop_.run(provider().kill(id_)); }

  Provider& provider() { return vendor_->provider(); }
  template <class T>
  Error refusal(Task<T> task) {
    const auto outcome = loop_.run(attempt(std::move(task)));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? *error : Error(ErrorCode::internal, "it was done");
  }

  LiveLoop loop_;
  std::unique_ptr<Vendor> vendor_;
  std::string id_;
};

TEST_F(E2bSandbox, AFileThatIsReplacedHasTheModeThatWasAskedFor) {
  // envd reads "~" as the home, and so must the lines that set the mode.
  for (const char* path : {"run.sh", "~/in/run.sh", "~/-n ~'$a.sh"})
    for (const uint32_t mode : {0600U, 0644U, 0755U, 0644U}) {
      TextBytes text("x");
      EXPECT_EQ(loop_.run(provider().write_file(id_, path, mode, text)).mode, mode) << path;
      EXPECT_EQ(loop_.run(provider().stat(id_, path)).mode, mode) << path;
    }
  for (const FileEntry& entry : loop_.run(provider().list_files(id_, "", 1)))
    EXPECT_NE(entry.name, "~");
}

// Such a memory is never restored, and only the disk was kept then.
TEST_F(E2bSandbox, AMemoryWhoseAgentDidNotAnswerIsNotSaidToBeKept) {
  EXPECT_EQ(loop_.run(provider().pause(id_, Keeps::memory)), Keeps::memory);
  loop_.run(provider().resume(id_));
  TextBytes text("x");
  loop_.run(provider().write_file(id_, ".envd_hangs", 0644, text));
  EXPECT_EQ(loop_.run(provider().pause(id_, Keeps::memory)), Keeps::disk);
  EXPECT_EQ(loop_.run(provider().find(id_))->kept, Keeps::disk);
  loop_.run(provider().resume(id_));
  EXPECT_EQ(loop_.run(provider().stat(id_, ".envd_hangs")).size, 1U);
  EXPECT_EQ(loop_.run(provider().pause(id_, Keeps::disk)), Keeps::disk);
  loop_.run(provider().resume(id_));
}

// envd would remove it, and with it the working directory of every command.
TEST_F(E2bSandbox, TheHomeIsNotRemoved) {
  TextBytes text("x");
  loop_.run(provider().write_file(id_, "sub/file", 0644, text));
  const std::string home = loop_.run(provider().stat(id_, "sub")).path + "/..";
  for (const std::string& path : {std::string("."), std::string("~"), std::string("sub/.."), home})
    for (const bool recursive : {true, false})
      EXPECT_EQ(refusal(provider().remove(id_, path, recursive)).code, ErrorCode::forbidden)
          << path;
  EXPECT_EQ(loop_.run(provider().stat(id_, "sub/file")).size, 1U);
  loop_.run(provider().remove(id_, "sub", true));
  EXPECT_EQ(refusal(provider().stat(id_, "sub")).code, ErrorCode::not_found);
}

TEST_F(E2bSandbox, ADirectoryThatIsNotThereIsNamed) {
  const auto start = [this](std::string cwd) {
    Command command{.argv = {"true"}, .cwd = std::move(cwd), .process_id = ProcessId::make().value};
    return provider().exec(id_, std::move(command));
  };
  const Error refused = refusal(start("/no/such/place"));
  EXPECT_EQ(refused.code, ErrorCode::invalid);
  ASSERT_EQ(refused.fields.size(), 1U);
  EXPECT_EQ(refused.fields[0].path, "/cwd");
}

}  // namespace
}  // namespace sandgate::test
