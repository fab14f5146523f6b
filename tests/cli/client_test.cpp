#include "gateway/cli/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <sstream>

#include "gateway/cli/process_output.hpp"
#include "tests/cli/scripted_server.hpp"

namespace sandgate::cli {
namespace {

Client client_of(const ScriptedServer& server) {
  return Client(server.url(), Secret("sg_key"), "tnone");
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Client, SendsKeyTenantAndBody) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(201, R"({"id":"x"})"); });

  EXPECT_EQ(client_of(server).post("/v1/things", {{"a", 1}})["id"], "x");
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].method, "POST");
  EXPECT_EQ(server.requests()[0].target, "/v1/things");
  EXPECT_EQ(server.requests()[0].body, R"({"a":1})");
  EXPECT_NE(server.requests()[0].head.find("Authorization: Bearer sg_key"), std::string::npos);
  EXPECT_NE(server.requests()[0].head.find("X-Sandgate-Tenant: tnone"), std::string::npos);
}

TEST(Client, AsksNoProxyForThisMachine) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"id":"x"})"); });
  const std::string port = server.url().substr(server.url().rfind(':'));

  setenv("http_proxy", "http://127.0.0.1:1", 1);
  for (const std::string host : {"http://127.0.0.1", "http://localhost", "127.0.0.1"})
    EXPECT_EQ(Client(host + port, Secret("sg_key"), "").get("/v1/things")["id"], "x") << host;
  setenv("http_proxy", server.url().c_str(), 1);
  Client("http://127.gate.example", Secret("sg_key"), "").get("/v1/things");
  unsetenv("http_proxy");

  EXPECT_EQ(server.requests().back().target, "http://127.gate.example/v1/things");
}

TEST(Client, SaysWhyAGatewayCannotBeReached) {
  const auto complaint = [](const std::string& url) {
    return message_of([&] { Client(url, Secret("sg_key"), "").get("/v1/things"); });
  };
  const std::string nowhere = complaint("http://nowhere.invalid");
  EXPECT_NE(nowhere.find("resolve host: nowhere.invalid"), std::string::npos) << nowhere;
  EXPECT_EQ(nowhere.find("running"), std::string::npos) << nowhere;
  const std::string refused = complaint("http://127.0.0.1:1");
  EXPECT_NE(refused.find("port 1 "), std::string::npos) << refused;
  EXPECT_NE(refused.find("is `sandgate serve` running?"), std::string::npos) << refused;
  for (const char* url : {"ftp://gate.example", "http://a b", "http://127.0.0.1:99999"})
    EXPECT_TRUE(complaint(url).ends_with("is like https://gate.example.com")) << complaint(url);
}

TEST(Client, AsksWhetherThePathOfItsAddressIsRight) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(404, R"({"code":"not_found","detail":"there is nothing"})");
  });
  const auto complaint = [](const std::string& url) {
    return message_of([&] { Client(url, Secret("sg_key"), "").get("/v1/things"); });
  };
  const std::string asked = "; is the path in " + server.url() + "/api right?";
  EXPECT_NE(complaint(server.url() + "/api").find(asked), std::string::npos);
  EXPECT_EQ(complaint(server.url()).find("is the path"), std::string::npos);
}

TEST(Client, TurnsAProblemIntoOneLineWithCodeAndRequest) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(404, R"({"code":"not_found","detail":"no file 'x'",
      "request_id":"rq1","status":404})");
  });

  EXPECT_EQ(message_of([&] { client_of(server).get("/v1/sandboxes/x"); }),
            "no file 'x' (not_found, request rq1)");
}

TEST(Client, SaysWhichCommandListsWhatWasNotFound) {
  ScriptedServer server([](const auto& request) {
    return ScriptedServer::json(404, R"({"code":"not_found","request_id":"rq1","detail":"no )" +
                                         request.target.substr(1) + R"( 'x'"})");
  });
  for (const auto& [kind, list] : {std::pair("sandbox", "list"),
                                   {"profile", "profiles list"},
                                   {"tenant", "tenants list"},
                                   {"secret", "secrets list"}})
    EXPECT_EQ(message_of([&] { client_of(server).get("/" + std::string(kind)); }),
              "no " + std::string(kind) + " 'x'; `sandgate " + list +
                  "` shows them (not_found, request rq1)");
}

TEST(Client, SaysWhichCommandListsTheVersionsOfAProfile) {
  std::string detail;
  ScriptedServer server([&](const auto&) {
    return ScriptedServer::json(
        404, Json{{"code", "not_found"}, {"request_id", "rq1"}, {"detail", detail}}.dump());
  });
  for (const char* lack : {"version 9", "channel 'beta'"}) {
    detail = "profile 'python' has no " + std::string(lack);
    EXPECT_EQ(message_of([&] { client_of(server).get("/"); }),
              detail +
                  "; `sandgate profiles versions python` shows what it has (not_found, request "
                  "rq1)");
  }
}

TEST(Client, SaysHowAPausedSandboxGoesOn) {
  ScriptedServer server([](const auto& request) {
    const std::string state = request.target.substr(1);
    return ScriptedServer::json(409, R"({"code":"conflict","detail":"the sandbox is )" + state +
                                         R"(","request_id":"rq1",
        "state":")" + state + "\"}");
  });
  EXPECT_EQ(message_of([&] { client_of(server).get("/paused"); }),
            "the sandbox is paused; `sandgate resume` lets it go on (conflict, request rq1)");
  EXPECT_EQ(message_of([&] { client_of(server).get("/stopped"); }),
            "the sandbox is stopped (conflict, request rq1)");
}

TEST(Client, SaysWhichKeyIsNotValid) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(
        401,
        R"({"code":"unauthenticated","detail":"this API key has expired","request_id":"rq1"})");
  });
  EXPECT_EQ(message_of([&] { client_of(server).get("/"); }),
            "this API key has expired; set SANDGATE_API_KEY to a valid key "
            "(unauthenticated, request rq1)");
  const Client operators(server.url(), Secret("sg_key"), "", "SANDGATE_ADMIN_KEY");
  EXPECT_EQ(message_of([&] { operators.get("/"); }),
            "this API key has expired; set SANDGATE_ADMIN_KEY to a valid key "
            "(unauthenticated, request rq1)");
}

TEST(Client, SaysWhoReachesWhatIsOnTheMachineOfAnotherGateway) {
  ScriptedServer server([](const auto& request) {
    const std::string where =
        request.target == "/elsewhere" ? "on the machine of another gateway" : "resting";
    return ScriptedServer::json(
        503, R"({"code":"unavailable","request_id":"rq1","detail":"it is )" + where + "\"}");
  });
  EXPECT_EQ(message_of([&] { client_of(server).get("/elsewhere"); }),
            "it is on the machine of another gateway; ask that one (unavailable, request rq1)");
  EXPECT_EQ(message_of([&] { client_of(server).get("/resting"); }),
            "it is resting; try again in a moment (unavailable, request rq1)");
}

TEST(Client, NamesEveryWrongField) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(400, R"({"code":"invalid","detail":"d","request_id":"rq1",
      "fields":[{"path":"/a","message":"is required"},{"path":"/b","message":"is not known"}]})");
  });

  EXPECT_EQ(message_of([&] { client_of(server).get("/"); }),
            "/a is required; /b is not known (invalid, request rq1)");
}

TEST(Client, SaysWhatIsWrongWithNoMember) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(400, R"({"code":"invalid","detail":"d","request_id":"rq1",
      "fields":[{"path":"","message":"the name must match x"}]})");
  });

  EXPECT_EQ(message_of([&] { client_of(server).get("/"); }),
            "the name must match x (invalid, request rq1)");
}

TEST(Client, KeepsAHostileDetailOnOneLine) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(500, "{\"code\":\"internal\",\"detail\":\"a\\n\\u001b[2Jb\"}");
  });

  EXPECT_EQ(message_of([&] { client_of(server).get("/"); }).find('\x1b'), std::string::npos);
}

TEST(Client, SaysWhatToDoWhenNobodyListens) {
  const Client client("http://127.0.0.1:1", Secret("k"), "");

  EXPECT_NE(message_of([&] { client.get("/"); }).find("is `sandgate serve` running?"),
            std::string::npos);
}

TEST(Client, SaysWhenTheServerIsSomethingElse) {
  ScriptedServer server([](const auto&) { return ScriptedServer::of_type("text/html", "<html>"); });

  EXPECT_NE(message_of([&] { client_of(server).get("/"); }).find("not JSON"), std::string::npos);
}

TEST(Client, ReadsProblemsOfServersThatAreSomethingElse) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(400, R"({"code":"teapot","detail":null,"request_id":7,
      "fields":[{"path":2,"message":"m"}]})");
  });
  EXPECT_EQ(message_of([&] { client_of(server).get("/"); }), "m (teapot, request unknown)");
}

TEST(Client, FollowsCursorsToTheEnd) {
  ScriptedServer server([](const auto& request) {
    const bool second = request.target.find("cursor=a%2Fb") != std::string::npos;
    return ScriptedServer::json(200, second ? R"({"items":[3],"next_cursor":null})"
                                            : R"({"items":[1,2],"next_cursor":"a/b"})");
  });

  EXPECT_EQ(client_of(server).all("/v1/things").size(), 3u);
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST(Client, HasNoLastPageOfItsOwn) {
  Json page{{"items", Json::array()}, {"next_cursor", "more"}};
  for (int i = 0; i < 600; ++i) page["items"].push_back(i);
  std::atomic<int> pages{0};
  ScriptedServer server([&](const auto&) {
    if (++pages == 3) page["next_cursor"] = nullptr;
    return ScriptedServer::json(200, page.dump());
  });
  EXPECT_EQ(client_of(server).all("/v1/things").size(), 1800u);
}

TEST(Client, StreamsAnUploadOfUnknownLength) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, "{}"); });
  int pieces = 3;

  client_of(server).call({.method = "PUT",
                          .path = "/x",
                          .content_type = "application/octet-stream",
                          .upload = [&](char* into, size_t) -> size_t {
                            if (pieces-- == 0) return 0;
                            std::copy_n("abc", 3, into);
                            return 3;
                          }});

  EXPECT_EQ(server.requests()[0].body, "abcabcabc");
}

TEST(Client, GivesAStreamUpInWhichThereIsNoSignOfLife) {
  std::promise<void> given_up;
  ScriptedServer server([&](const auto& request) {
    request.send(ScriptedServer::of_type("text/event-stream", ": here\n\n"));
    given_up.get_future().wait();
    return std::string();
  });
  std::string heard;
  Call call{.path = "/v1/events", .silence = std::chrono::seconds(1)};
  call.download = [&](std::string_view bytes) { heard += bytes; };
  EXPECT_EQ(message_of([&] { client_of(server).call(call); }),
            "no sign of life from " + server.url() + " for 1 s");
  given_up.set_value();
  EXPECT_EQ(heard, ": here\n\n");
}

TEST(Client, WaitsForAnAnswerThatTakesItsTime) {
  std::promise<void> a_second_is_over;
  ScriptedServer server([&](const auto&) {
    a_second_is_over.get_future().wait();
    return ScriptedServer::json(200, R"({"id":"x"})");
  });
  const auto began = std::chrono::steady_clock::now();
  bool told = false;
  Call call{.path = "/v1/things", .silence = std::chrono::seconds(1)};
  call.on_progress = [&](uint64_t, uint64_t) {
    if (told || std::chrono::steady_clock::now() - began < std::chrono::milliseconds(1500)) return;
    told = true;
    a_second_is_over.set_value();
  };
  EXPECT_EQ(client_of(server).call(call).json()["id"], "x");
}

std::string idempotency_key_of(const ScriptedServer::Request& request) {
  const std::string name = "Idempotency-Key: ";
  const size_t begin = request.head.find(name);
  if (begin == std::string::npos) return "";
  return request.head.substr(begin, request.head.find('\n', begin) - begin).substr(name.size());
}

TEST(Client, AsksAgainUnderTheSameKeyWhenAnAnswerIsLost) {
  std::atomic<int> asked = 0;
  ScriptedServer server([&](const auto&) {
    const std::string answer = ScriptedServer::json(201, R"({"id":"sb1"})");
    const int before = asked++;
    return before == 0 ? "" : before == 1 ? answer.substr(0, answer.size() - 1) : answer;
  });
  EXPECT_EQ(client_of(server).create("/v1/sandboxes", {{"profile", "p"}})["id"], "sb1");
  client_of(server).create("/v1/sandboxes", {{"profile", "p"}});
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 4u);
  const std::string key = idempotency_key_of(requests[0]);
  EXPECT_EQ(key.size(), 32u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(idempotency_key_of(requests[i]), key);
    EXPECT_EQ(requests[i].body, R"({"profile":"p"})");
  }
  EXPECT_NE(idempotency_key_of(requests[3]), key);
}

TEST(Client, AsksOnceForWhatIsRefusedOrMakesNothing) {
  ScriptedServer server([](const auto& request) {
    const std::string refusal = R"({"code":"unavailable","detail":"d","request_id":"rq1"})";
    return request.target == "/refused" ? ScriptedServer::json(503, refusal) : "";
  });
  message_of([&] { client_of(server).create("/refused", Json::object()); });
  message_of([&] { client_of(server).post("/lost", Json::object()); });
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(idempotency_key_of(server.requests()[1]), "");
}

TEST(Client, SaysThatAnAnswerWasLostWhenNoneComes) {
  ScriptedServer server([](const auto&) { return std::string(); });
  const std::string said =
      message_of([&] { client_of(server).create("/v1/sandboxes", Json::object()); });
  EXPECT_TRUE(said.starts_with("no complete answer from ")) << said;
  EXPECT_EQ(server.requests().size(), 4u);
}

TEST(Client, EncodesWhatWouldChangeAnAddress) {
  EXPECT_EQ(percent_encode("a b/c?d&e=f%"), "a%20b%2Fc%3Fd%26e%3Df%25");
  EXPECT_EQ(percent_encode("name-1.2_~"), "name-1.2_~");
}

TEST(ProcessOutput, CopiesBothStreamsAndReturnsTheExit) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::of_type("text/event-stream",
                                   "event: start\ndata: {\"process_id\":\"pr1\"}\n\n"
                                   "event: stdout\nid: 2\ndata: {\"data\":\"aGk=\"}\n\n:\n\n"
                                   "event: stderr\nid: 3\ndata: {\"data\":\"IQ==\"}\n\n"
                                   "event: exit\ndata: {\"exit_code\":7,\"timed_out\":false}\n\n");
  });
  std::ostringstream out, err;

  const StreamedExit exit =
      stream_output(client_of(server), {.path = "/x"}, Console(out, err, false, false));

  EXPECT_EQ(exit.exit_code, 7);
  EXPECT_EQ(exit.process_id, "pr1");
  EXPECT_EQ(out.str(), "hi");
  EXPECT_EQ(err.str(), "!");
}

TEST(ProcessOutput, AStreamWithoutItsEndIsAnError) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::of_type("text/event-stream", "event: start\ndata: {}\n\n");
  });
  std::ostringstream out, err;

  EXPECT_THROW(stream_output(client_of(server), {.path = "/x"}, Console(out, err, false, false)),
               Error);
}

}  // namespace
}  // namespace sandgate::cli
