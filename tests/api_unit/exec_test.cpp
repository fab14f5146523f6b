#include "gateway/core/crypto.hpp"
#include "gateway/core/settle.hpp"
#include "providers/transport/event_stream.hpp"
#include "tests/api_unit/box_test.hpp"

namespace sandgate::test {
namespace {

using ExecApi = BoxTest;

std::vector<ServerEvent> events_of(const std::string& body) {
  EventSplitter splitter;
  splitter.add(body);
  std::vector<ServerEvent> events;
  while (auto event = splitter.next()) events.push_back(*event);
  return events;
}

TEST_F(ExecApi, AnswersWithOutputAndExitCode) {
  const Json answer = exec({{"shell", "echo out; echo err >&2; exit 3"}});
  EXPECT_EQ(answer["stdout"], "out\n");
  EXPECT_EQ(answer["stderr"], "err\n");
  EXPECT_EQ(answer["exit_code"], 3);
  EXPECT_EQ(answer["signal"], nullptr);
  EXPECT_EQ(answer["truncated"], false);
  EXPECT_TRUE(is_id("pr", answer["process_id"].get<std::string>()));
}

TEST_F(ExecApi, StdinIsGivenAndClosedEvenWhenThereIsNone) {
  EXPECT_EQ(exec({{"command", {"cat"}}, {"stdin", "hello"}})["stdout"], "hello");
  EXPECT_EQ(exec({{"command", {"cat"}}})["stdout"], "");
  const std::string large(2 << 20, 'q');
  EXPECT_EQ(exec({{"shell", "cat"}, {"stdin", large}, {"max_output_bytes", 4 << 20}})["stdout"],
            large);
}

TEST_F(ExecApi, BytesThatAreNoTextComeAsBase64) {
  const Json answer = exec({{"shell", "printf '\\377\\001'; printf ok >&2"}});
  EXPECT_EQ(answer["stdout_base64"], "/wE=");
  EXPECT_EQ(answer["stderr"], "ok");
}

TEST_F(ExecApi, TooMuchOutputIsCutAndTheProcessRunsToItsEnd) {
  const Json answer = exec(
      {{"shell", "head -c 3000000 /dev/zero | tr '\\0' x; exit 5"}, {"max_output_bytes", 100}});
  EXPECT_EQ(answer["stdout"], std::string(100, 'x'));
  EXPECT_EQ(answer["truncated"], true);
  EXPECT_EQ(answer["exit_code"], 5);
}

// In pieces, which cut neither a character nor three bytes of base64.
TEST_F(ExecApi, MuchOutputComesWhole) {
  const Json text = exec({{"shell", "yes 'a€\"\u0001' | head -c 700000; printf € >&2"}});
  std::string expected;
  while (expected.size() < 700000) expected += "a€\"\u0001\n";
  EXPECT_EQ(text["stdout"], expected.substr(0, 700000));
  EXPECT_EQ(text["stderr"], "€");
  const Json bytes = exec({{"shell", "head -c 700000 /dev/zero | tr '\\0' '\\377'"}});
  EXPECT_EQ(bytes["stdout_base64"], base64_encode(std::string(700000, '\377')));
  EXPECT_EQ(bytes["stderr"], "");
  EXPECT_EQ(bytes["truncated"], false);
}

TEST_F(ExecApi, EventsCarryOffsets) {
  const auto reply = send("POST", "/exec", R"({"shell":"printf abc; printf de >&2"})",
                          {{"Accept", "text/event-stream"}});
  const auto events = events_of(reply.body);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].name, "start");
  EXPECT_EQ(events[3].name, "exit");
  EXPECT_EQ(events[2].id, "5");
  EXPECT_EQ(Json::parse(events[3].data)["exit_code"], 0);
}

TEST_F(ExecApi, EventsStopAtWhatIsAskedForAndTheProgramGoesOn) {
  const auto reply = send("POST", "/exec",
                          R"({"shell":"printf abcdef; sleep 0.2; printf 123 >&2; sleep 0.2; )"
                          R"(head -c 3000000 /dev/zero; exit 3","max_output_bytes":4})",
                          {{"Accept", "text/event-stream"}});
  std::string out, err;
  uint64_t offset = 0;
  const auto events = events_of(reply.body);
  for (const auto& event : events) {
    if (event.name != "stdout" && event.name != "stderr") continue;
    (event.name == "stdout" ? out : err) +=
        base64_decode(Json::parse(event.data)["data"].get<std::string>()).value();
    EXPECT_GT(std::stoull(event.id), offset);
    offset = std::stoull(event.id);
  }
  EXPECT_EQ(out, "abcd");
  EXPECT_EQ(err, "123");
  EXPECT_EQ(offset, 9u) << "dropped bytes count";
  const Json exit = Json::parse(events.back().data);
  EXPECT_EQ(exit["exit_code"], 3);
  EXPECT_EQ(exit["truncated"], true);
}

TEST_F(ExecApi, EventsAreAllOfTheOutputUnlessLessIsAskedFor) {
  const auto reply = send("POST", "/exec", R"({"shell":"head -c 2000000 /dev/zero"})",
                          {{"Accept", "text/event-stream"}});
  size_t bytes = 0;
  const auto events = events_of(reply.body);
  for (const auto& event : events)
    if (event.name == "stdout")
      bytes += base64_decode(Json::parse(event.data)["data"].get<std::string>())->size();
  EXPECT_EQ(bytes, 2'000'000u);
  EXPECT_FALSE(Json::parse(events.back().data).contains("truncated"));
}

// A client of event streams that connects again would run the program again.
TEST_F(ExecApi, AReconnectRunsNothing) {
  const auto again = send("POST", "/exec", R"({"shell":"touch ran"})",
                          {{"Accept", "text/event-stream"}, {"Last-Event-ID", "4"}});
  EXPECT_EQ(again.status, 400);
  EXPECT_EQ(Json::parse(again.body)["fields"][0]["path"], "/Last-Event-ID");
  EXPECT_EQ(send("GET", "/files/stat?path=ran").status, 404);
  EXPECT_EQ(send("POST", "/exec", R"({"shell":"touch ran"})", {{"Last-Event-ID", ""}}).status, 200);
  EXPECT_EQ(send("GET", "/files/stat?path=ran").status, 200);
}

TEST_F(ExecApi, EventsAreSentToThoseWhoTakeThem) {
  const auto streamed = [&](const char* accept) {
    const auto reply = send("POST", "/exec", R"({"shell":"true"})", {{"Accept", accept}});
    return !reply.body.starts_with("{");
  };
  for (const char* accept :
       {"text/event-stream", "Text/Event-Stream;q=0.1", "*/*, text/event-stream"})
    EXPECT_TRUE(streamed(accept)) << accept;
  for (const char* accept : {"*/*", "text/event-stream;q=0", "text/event-stream; q=0.000, */*"})
    EXPECT_FALSE(streamed(accept)) << accept;
}

TEST_F(ExecApi, ProcessesComeInPages) {
  std::set<std::string> started, listed;
  for (int i = 0; i < 3; ++i) started.insert(exec({{"shell", "true"}})["process_id"]);
  std::string cursor;
  for (int page = 0; page < 2; ++page) {
    const Json answer = Json::parse(send("GET", "/processes?limit=2" + cursor).body);
    for (const Json& item : answer["items"]) listed.insert(item["id"]);
    EXPECT_EQ(answer["next_cursor"].is_null(), page == 1);
    if (page == 0) cursor = "&cursor=" + answer["next_cursor"].get<std::string>();
  }
  EXPECT_EQ(listed, started);
  for (const char* query : {"limit=0", "limit=101", "cursor=zz!"})
    EXPECT_EQ(send("GET", std::string("/processes?") + query).status, 400) << query;
}

// However many programs ended since, the first page shows what runs and what was started last.
TEST_F(ExecApi, WhatRunsIsListedFirst) {
  const auto start = [&](const char* line) {
    return Json::parse(send("POST", "/exec", Json{{"shell", line}, {"background", true}}.dump())
                           .body)["process_id"]
        .get<std::string>();
  };
  const std::string waiting = start("cat");
  for (int i = 0; i < 3; ++i) exec({{"shell", "true"}});
  const std::string last = exec({{"shell", "true"}})["process_id"];
  const std::string newest = start("cat");
  const Json page = Json::parse(send("GET", "/processes?limit=3").body);
  std::vector<std::string> listed;
  for (const Json& item : page["items"]) listed.push_back(item["id"]);
  EXPECT_EQ(listed, (std::vector{newest, waiting, last}));

  // One that ends between two pages is not lost.
  const Json first = Json::parse(send("GET", "/processes?limit=1").body);
  send("DELETE", "/processes/" + waiting + "/stdin");
  send("GET", "/processes/" + waiting + "/output");
  const std::string rest = "/processes?cursor=" + first["next_cursor"].get<std::string>();
  const Json others = Json::parse(send("GET", rest).body)["items"];
  EXPECT_EQ(others.size(), 5u);
  EXPECT_EQ(others.back()["id"], waiting);
}

TEST_F(ExecApi, BackgroundOutputResumesFromAnOffset) {
  const auto started = send("POST", "/exec", R"({"shell":"printf 0123456789","background":true})");
  EXPECT_EQ(started.status, 202);
  const std::string pid = Json::parse(started.body)["process_id"];
  const auto output = send("GET", "/processes/" + pid + "/output", "", {{"Last-Event-ID", "4"}});
  const auto events = events_of(output.body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(Json::parse(events[1].data)["data"], base64_encode("456789"));
  const Json info = Json::parse(send("GET", "/processes/" + pid).body);
  EXPECT_EQ(info["state"], "exited");
  EXPECT_EQ(info["background"], true);
}

// As a browser does after each end of a stream, until it is answered 204.
TEST_F(ExecApi, WhoSawTheExitIsToldThatNothingFollows) {
  const auto started = send("POST", "/exec", R"({"shell":"printf abc","background":true})");
  const std::string output =
      "/processes/" + Json::parse(started.body)["process_id"].get<std::string>() + "/output";
  const auto events = events_of(send("GET", output).body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].id, "3");
  ASSERT_EQ(events[2].name, "exit");
  EXPECT_EQ(events[2].id, "9007199254740991");
  const auto from = [&](const std::string& id) {
    return send("GET", output, "", {{"Last-Event-ID", id}});
  };
  const auto ended = from(events[2].id);
  EXPECT_EQ(ended.status, 204);
  EXPECT_EQ(ended.body, "");
  // Whoever has all bytes but no `exit` still gets it.
  for (const char* id : {"3", "4"}) {
    const auto rest = events_of(from(id).body);
    ASSERT_EQ(rest.size(), 2u) << id;
    EXPECT_EQ(rest[1].name, "exit") << id;
  }
}

// Nothing connects to it again, so all its ids are offsets.
TEST_F(ExecApi, AStreamOfAnExecGivesItsExitNoId) {
  const auto reply =
      send("POST", "/exec", R"({"shell":"true"})", {{"Accept", "text/event-stream"}});
  EXPECT_EQ(events_of(reply.body).back().id, "");
}

TEST_F(ExecApi, StdinAndSignalsReachARunningProcess) {
  const auto started = send("POST", "/exec", R"({"command":["cat"],"background":true})");
  const std::string pid = Json::parse(started.body)["process_id"];
  EXPECT_EQ(send("POST", "/processes/" + pid + "/stdin", "raw").status, 204);
  EXPECT_EQ(send("POST", "/processes/" + pid + "/signal", R"({"signal":"NOPE"})").status, 400);
  EXPECT_EQ(send("DELETE", "/processes/" + pid + "/stdin").status, 204);
  const auto events = events_of(send("GET", "/processes/" + pid + "/output").body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(Json::parse(events[1].data)["data"], base64_encode("raw"));
  const auto sleeper = send("POST", "/exec", R"({"command":["sleep","600"],"background":true})");
  const std::string other = Json::parse(sleeper.body)["process_id"];
  EXPECT_EQ(send("POST", "/processes/" + other + "/signal", R"({"signal":9})").status, 204);
  const auto end = events_of(send("GET", "/processes/" + other + "/output").body);
  EXPECT_EQ(Json::parse(end.back().data)["signal"], "SIGKILL");
}

// An exec that waits while other requests are made.
class WaitedExec : public BoxTest {
 protected:
  using Reply = std::shared_ptr<std::optional<HttpReply>>;

  HttpCall call_of(const Json& body) const {
    return {.method = "POST",
            .url = "http://here/v1/sandboxes/" + id_ + "/exec",
            .headers = {},
            .body = body.dump()};
  }
  Reply begin(const Json& body) {
    auto reply = std::make_shared<std::optional<HttpReply>>();
    spawn_detached(loop_.executor(), [this, reply, call = call_of(body)]() -> Task<void> {
      auto calling = gateway_.client.call(call);
      *reply = co_await std::move(calling);
    });
    return reply;
  }
  bool comes_true(const std::function<bool()>& holds) {
    for (int looks = 0; looks < 500 && !holds(); ++looks)
      loop_.run(sleep_for(std::chrono::milliseconds(20)));
    return holds();
  }
  Json only_process() {
    const Json items = Json::parse(send("GET", "/processes").body)["items"];
    return items.size() == 1 ? items[0] : Json::object();
  }
  bool has(const std::string& file) {
    return send("GET", "/files/stat?path=" + file).status == 200;
  }
};

// What runs in a paused sandbox stands still, and so does the agent that keeps its time.
TEST_F(WaitedExec, APauseEndsTheWaitAndNotTheProgram) {
  const std::string input(300'000, 'i');
  const auto reply =
      begin({{"shell", "touch began; sleep 2; cat > got; head -c 3000000 /dev/zero; touch ended"},
             {"stdin", input},
             {"on_disconnect", "kill"}});
  ASSERT_TRUE(comes_true([&] { return has("began"); }));
  EXPECT_EQ(send("POST", "/pause").status, 200);
  ASSERT_TRUE(comes_true([&] { return reply->has_value(); }));
  EXPECT_EQ((*reply)->status, 409);
  const Json problem = Json::parse((*reply)->body);
  EXPECT_EQ(problem["state"], "paused");
  const std::string pid = only_process()["id"];
  EXPECT_EQ(problem["process_id"], pid);
  EXPECT_NE(problem["detail"].get<std::string>().find("/processes/" + pid + "/output"),
            std::string::npos);
  EXPECT_EQ(only_process()["state"], "running");
  EXPECT_EQ(send("POST", "/resume").status, 200);
  EXPECT_TRUE(comes_true([&] { return only_process()["state"] == "exited"; }));
  EXPECT_EQ(only_process()["exit_code"], 0);
  EXPECT_TRUE(has("ended")) << "its output was read on";
  EXPECT_EQ(Json::parse(send("GET", "/files/stat?path=got").body)["size"], input.size());
}

TEST_F(WaitedExec, AClientThatLeavesEndsItsProgram) {
  auto calling = gateway_.client.call(call_of({{"shell", "sleep 600"}}));
  auto leaving = with_timeout(std::chrono::seconds(2), std::move(calling));
  EXPECT_FALSE(loop_.run(std::move(leaving)).has_value());
  EXPECT_TRUE(comes_true([&] { return only_process()["signal"] == "SIGKILL"; }));
}

// As after a crash of the gateway that had started the program: no answer was stored.
TEST_F(ExecApi, ARepeatedStartFindsItsProgram) {
  const auto start = [&](const std::string& body, const std::string& key) {
    return send("POST", "/exec", body, {{"Idempotency-Key", key}});
  };
  const std::string body = R"({"shell":"echo $$; sleep 600","background":true})";
  const auto first = start(body, "one"), again = start(body, "one"), other = start(body, "two");
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(again.status, 202);
  EXPECT_EQ(again.body, first.body);
  EXPECT_NE(other.body, first.body);
  EXPECT_TRUE(is_id("pr", Json::parse(first.body)["process_id"].get<std::string>()));
  EXPECT_EQ(Json::parse(send("GET", "/processes").body)["items"].size(), 2u);
  const std::string fed = R"({"shell":"cat; sleep 600","background":true,"stdin":"x"})";
  EXPECT_EQ(start(fed, "three").status, 202);
  EXPECT_EQ(start(fed, "three").status, 409);
  const std::string waited = R"({"shell":"echo x"})";
  EXPECT_EQ(start(waited, "four").status, 200);
  EXPECT_EQ(start(waited, "four").status, 409) << "neither run again nor known";
}

// As a day after the first one, when its key is forgotten but its program still runs.
TEST_F(ExecApi, AnotherBodyUnderAForgottenKeyStartsItsOwnProgram) {
  const auto start = [&](const std::string& body) {
    return send("POST", "/exec", body, {{"Idempotency-Key", "one"}});
  };
  const std::string body = R"({"shell":"sleep 600","background":true})";
  const auto first = start(body), other = start(R"({"shell":"sleep 601","background":true})");
  EXPECT_EQ(other.status, 202);
  EXPECT_NE(other.body, first.body);
  EXPECT_EQ(Json::parse(send("GET", "/processes").body)["items"].size(), 2u);
  EXPECT_EQ(start(body).body, first.body);
}

TEST_F(ExecApi, NothingToWriteIsNoReasonToTakeIt) {
  const Json ended = exec({{"shell", "true"}});
  const std::string pid = ended["process_id"];
  for (const char* input : {"", "x"}) {
    EXPECT_EQ(send("POST", "/processes/prx/stdin", input).status, 404) << input;
    EXPECT_EQ(send("POST", "/processes/" + pid + "/stdin", input).status, 409) << input;
  }
  const auto started = send("POST", "/exec", R"({"command":["cat"],"background":true})");
  const std::string reading = Json::parse(started.body)["process_id"];
  EXPECT_EQ(send("POST", "/processes/" + reading + "/stdin").status, 204);
  EXPECT_EQ(send("POST", "/processes/" + reading + "/stdin", "x").status, 204);
  send("DELETE", "/processes/" + reading + "/stdin");
  const auto events = events_of(send("GET", "/processes/" + reading + "/output").body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(Json::parse(events[1].data)["data"], base64_encode("x"));
}

TEST_F(ExecApi, UnknownProcessesAndMissingVerbsAreRefused) {
  EXPECT_EQ(send("GET", "/processes/prx/output").status, 404);
  const auto pty = send("POST", "/exec", R"({"shell":"x","pty":{}})");
  EXPECT_EQ(pty.status, 422);
}

TEST_F(ExecApi, AVanishedBackendIsReported) {
  loop_.run(gateway_.provider->kill("box-" + id_));
  EXPECT_EQ(send("POST", "/exec", R"({"shell":"true"})").status, 404);
  EXPECT_EQ(gateway_.gone, std::vector<std::string>{id_});
}

}  // namespace
}  // namespace sandgate::test
