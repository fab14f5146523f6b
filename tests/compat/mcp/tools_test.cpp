#include <gtest/gtest.h>

#include <set>

#include "gateway/compat/mcp/tool_calls.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/http/problem.hpp"
#include "tests/support/run.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr char kBox[] = "sb000000000000000000000000";

Plan plan(const std::string& tool, const Json& arguments) {
  return find_tool(tool)->plan(arguments);
}
Json show(const std::string& tool, const Answer& answer, const Plan& plan = {}) {
  return find_tool(tool)->show(answer, plan);
}
// The pointers of what is wrong; "" for an Error without fields.
std::set<std::string> wrong(const std::string& tool, const Json& arguments) {
  try {
    plan(tool, arguments);
    return {};
  } catch (const Error& error) {
    std::set<std::string> paths;
    for (const FieldProblem& field : error.fields) paths.insert(field.path);
    return paths.empty() ? std::set<std::string>{""} : paths;
  }
}

// The result of a call in a sandbox that is there, where v1 answers by `ask`.
Json called(const std::string& tool, Json arguments, ToolCalls::Ask ask) {
  arguments["sandbox_id"] = kBox;
  ToolCalls calls(std::move(ask), "");
  return test::run(calls.run(std::make_shared<const ToolCall>(
      ToolCall{.tool = find_tool(tool), .arguments = std::move(arguments)})));
}

TEST(McpToolsTest, SchemasListWhatToolsTake) {
  std::set<std::string> names;
  for (const Tool& tool : tools()) {
    const Json shown = to_json(tool);
    names.insert(tool.name);
    for (const char* schema : {"inputSchema", "outputSchema"}) {
      EXPECT_EQ(shown.at(schema).at("type"), "object") << tool.name;
      for (const Json& name : shown.at(schema).at("required"))
        EXPECT_TRUE(shown.at(schema).at("properties").contains(name.get<std::string>()))
            << tool.name << name;
    }
    EXPECT_EQ(shown.at("inputSchema").at("additionalProperties"), false) << tool.name;
    // Whatever the schema requires is what the plan requires.
    std::set<std::string> required;
    for (const Json& name : tool.input.at("required"))
      required.insert("/" + name.get<std::string>());
    EXPECT_EQ(wrong(tool.name, Json::object()), required) << tool.name;
    EXPECT_TRUE(wrong(tool.name, {{"surprise", 1}}).contains("/surprise")) << tool.name;
    // Whatever the schema has, the plan knows.
    for (const auto& [name, unused] : tool.input.at("properties").items())
      EXPECT_TRUE(wrong(tool.name, {{name, Json::array()}}).contains("/" + name))
          << tool.name << name;
  }
  EXPECT_EQ(names.size(), 9u);
  EXPECT_EQ(find_tool("rm"), nullptr);
}

// Clients call read-only tools without asking their user.
TEST(McpToolsTest, WhatMayCreateASandboxIsNotReadOnly) {
  std::set<std::string> read_only;
  for (const Tool& tool : tools())
    if (tool.hints.at("readOnlyHint") == true) read_only.insert(tool.name);
  EXPECT_EQ(read_only, std::set<std::string>{"sandbox_list"});
}

TEST(McpToolsTest, CommandsAreLinesForTheShell) {
  const Plan one = plan("run_command", {{"command", "ls | wc"}, {"sandbox_id", kBox}});
  EXPECT_EQ(one.method, http::Method::post);
  EXPECT_EQ(one.path, "/exec");
  EXPECT_EQ(one.sandbox, kBox);
  EXPECT_EQ(one.body,
            Json({{"shell", "ls | wc"}, {"timeout_ms", 50000}, {"max_output_bytes", 65536}}));
  EXPECT_EQ(plan("run_command", {{"command", "x"}, {"timeout_ms", 7}}).body.at("timeout_ms"), 7);
  EXPECT_EQ(wrong("run_command", {{"command", std::string(128 << 10, 'x')}}),
            std::set<std::string>{"/command"});
  EXPECT_EQ(wrong("run_command", {{"command", "x"}, {"timeout_ms", 0}}),
            std::set<std::string>{"/timeout_ms"});
}

TEST(McpToolsTest, CodeIsAnArgumentAndNeverALine) {
  const std::string code = "print('$HOME; \"')";
  const auto argv = [&](const char* language) {
    return plan("run_code", {{"language", language}, {"code", code}}).body.at("command");
  };
  EXPECT_EQ(argv("python"), Json({"python3", "-c", code}));
  EXPECT_EQ(argv("javascript"), Json({"node", "-e", code}));
  EXPECT_EQ(argv("node"), Json({"node", "-e", code}));
  EXPECT_EQ(argv("bash"), Json({"bash", "-c", code}));
}

TEST(McpToolsTest, AnUnknownLanguageNamesTheKnown) {
  try {
    plan("run_code", {{"language", "cobol"}, {"code", "x"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_NE(error.fields.at(0).message.find("python, javascript, node, bash"), std::string::npos);
  }
}

TEST(McpToolsTest, ASandboxIsNamedByItsIdOrNot) {
  EXPECT_EQ(plan("read_file", {{"path", "a"}, {"sandbox_id", ""}}).sandbox, "");
  EXPECT_EQ(plan("read_file", {{"path", "a"}, {"sandbox_id", nullptr}}).sandbox, "");
  for (const char* id : {"sb1", "../../v1/keys", "tn000000000000000000000000"}) try {
      plan("read_file", {{"path", "a"}, {"sandbox_id", id}});
      FAIL() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::not_found);
    }
  EXPECT_EQ(plan("sandbox_kill", Json::object()).where, Target::own_if_there);
}

TEST(McpToolsTest, CutOutputSaysSo) {
  const Json whole{{"exit_code", 0}, {"process_id", "pr"}, {"truncated", false}, {"stdout", "a"}};
  const Json shown = show("run_command", {.json = whole});
  EXPECT_FALSE(shown.contains("process_id"));
  EXPECT_FALSE(shown.contains("notice"));
  Json cut = whole;
  cut["truncated"] = true;
  EXPECT_TRUE(show("run_command", {.json = cut}).contains("notice"));
}

TEST(McpToolsTest, TextIsTextAndBytesAreBase64) {
  const Json entry{{"path", "/a"}, {"size", 100}};
  const auto read = [&](const std::string& bytes, bool cut) {
    return show("read_file", {.bytes = bytes, .cut = cut, .entry = entry}, {.offset = 10});
  };
  const Json text = read("gr\xc3\xbc\xc3\x9f", false);
  EXPECT_EQ(text.at("text"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_FALSE(text.contains("next_offset"));
  // A character that the limit cut in two is read again, whole.
  const Json cut = read("gr\xc3\xbc\xc3", true);
  EXPECT_EQ(cut.at("text"), "gr\xc3\xbc");
  EXPECT_EQ(cut.at("next_offset"), 14);
  const std::string bytes("\xff\x00\xfe\xff\xff", 5);
  const Json binary = read(bytes, true);
  EXPECT_EQ(binary.at("base64"), base64_encode(bytes));
  EXPECT_EQ(binary.at("next_offset"), 15);
  EXPECT_FALSE(binary.contains("text"));
}

TEST(McpToolsTest, FilesAreWrittenFromTextOrBase64) {
  EXPECT_EQ(plan("write_file", {{"path", "a"}, {"content", ""}}).bytes, "");
  const std::string bytes("\x00\xff", 2);
  const Json encoded{{"path", "a"}, {"content", base64_encode(bytes)}, {"encoding", "base64"}};
  EXPECT_EQ(plan("write_file", encoded).bytes, bytes);
  EXPECT_EQ(wrong("write_file", {{"path", "a"}, {"content", "%"}, {"encoding", "base64"}}),
            std::set<std::string>{"/content"});
  EXPECT_EQ(wrong("write_file", {{"path", "a"}, {"content", "x"}, {"encoding", "hex"}}),
            std::set<std::string>{"/encoding"});
}

TEST(McpToolsTest, AnArgumentThatIsMissingIsToldOnce) {
  for (const Json& given : {Json{{"path", "a"}}, Json{{"path", "a"}, {"content", nullptr}}}) try {
      plan("write_file", given);
      FAIL() << given;
    } catch (const Error& error) {
      ASSERT_EQ(error.fields.size(), 1u) << given;
      EXPECT_EQ(error.fields[0].path, "/content");
    }
  EXPECT_EQ(wrong("write_file", {{"path", "a"}, {"content", 5}}),
            std::set<std::string>{"/content"});
}

TEST(McpToolsTest, ErrorsNameArguments) {
  const Json result =
      called("read_file", {{"path", "d"}}, [](http::Request&) -> Task<http::Response> {
        throw Error::invalid("/path", "is a directory");
        co_return http::Response();
      });
  EXPECT_EQ(result.at("isError"), true);
  const Json problem = Json::parse(result.at("content").at(0).at("text").get<std::string>());
  EXPECT_EQ(problem.at("fields").at(0).at("path"), "/path");
  EXPECT_EQ(problem.at("detail"), "/path: is a directory");
}

// A file that is missing because the sandbox is another one is the first thing that a model sees.
TEST(McpToolsTest, AFailureSaysThatTheSandboxIsNew) {
  const auto told = [](int made) {
    ToolCalls calls(
        [made](http::Request& request) -> Task<http::Response> {
          if (request.path == "/v1/sandboxes") co_return http::Response::json(made, {{"id", kBox}});
          throw Error(ErrorCode::not_found, "there is no such file");
        },
        "python");
    const Json result = test::run(calls.run(std::make_shared<const ToolCall>(
        ToolCall{.tool = find_tool("read_file"), .arguments = {{"path", "a"}}})));
    EXPECT_EQ(result.at("isError"), true);
    return Json::parse(result.at("content").at(0).at("text").get<std::string>());
  };
  EXPECT_EQ(told(201).at("code"), "not_found");
  EXPECT_EQ(told(201).at("new_sandbox"), true);
  EXPECT_EQ(told(201).at("sandbox_id"), kBox);
  EXPECT_FALSE(told(200).contains("new_sandbox")) << "another call made it";
}

// Refused or not, the call itself is made.
TEST(McpToolsTest, UseExtendsTheSessionsOwnSandbox) {
  const auto asked = [](const std::string& tool, const Json& given, int64_t extend_to) {
    std::vector<std::string> seen;
    ToolCalls calls(
        [&seen](http::Request& request) -> Task<http::Response> {
          const bool extends = request.path.ends_with("/extend");
          seen.push_back(request.path + (extends ? request.body : ""));
          if (extends) throw Error::invalid("/ttl_seconds", "no");
          co_return http::Response::json(200, {{"exit_code", 0}});
        },
        "python");
    const Session session{SessionId::make(), kBox, true, extend_to};
    test::run(calls.run(std::make_shared<const ToolCall>(
        ToolCall{.session = session, .tool = find_tool(tool), .arguments = given})));
    return seen;
  };
  using Seen = std::vector<std::string>;
  const std::string own = std::string("/v1/sandboxes/") + kBox;
  const std::string extend = own + R"(/extend{"ttl_seconds":600})";
  EXPECT_EQ(asked("run_command", {{"command", "ls"}}, 600), (Seen{extend, own + "/exec"}));
  EXPECT_EQ(asked("run_command", {{"command", "ls"}, {"sandbox_id", kBox}}, 600),
            (Seen{extend, own + "/exec"}));
  EXPECT_EQ(asked("run_command", {{"command", "ls"}}, 0), Seen{own + "/exec"});
  const std::string other = "sb111111111111111111111111";
  EXPECT_EQ(asked("run_command", {{"command", "ls"}, {"sandbox_id", other}}, 600),
            Seen{"/v1/sandboxes/" + other + "/exec"});
  EXPECT_EQ(asked("sandbox_kill", Json::object(), 600), Seen{own});
}

TEST(McpToolsTest, TheEndOfAFileIsAnEmptyPiece) {
  const auto read = [&](int64_t offset) {
    const Json given{{"path", "log"}, {"offset", offset}};
    return called("read_file", given, [](http::Request&) -> Task<http::Response> {
      const Error beyond(ErrorCode::invalid, "the range lies outside the file");
      http::Response response = http::problem(beyond, 416, "rq");
      response.headers.emplace_back("X-Sandgate-Entry", R"({"path":"/home/log","size":7})");
      co_return response;
    });
  };
  const Json shown = read(7).at("structuredContent");
  EXPECT_EQ(shown, Json({{"path", "/home/log"},
                         {"size", 7},
                         {"offset", 7},
                         {"truncated", false},
                         {"text", ""},
                         {"sandbox_id", kBox}}));
  EXPECT_EQ(read(8).at("isError"), true);
}

TEST(McpToolsTest, ResultsAreStructuredAndText) {
  const Json result = tool_result({{"a", 1}});
  EXPECT_EQ(result.at("structuredContent"), Json({{"a", 1}}));
  EXPECT_EQ(result.at("content").at(0).at("text"), R"({"a":1})");
  EXPECT_EQ(result.at("isError"), false);
  const Json failed = failed_result({{"code", "conflict"}});
  EXPECT_EQ(failed.at("isError"), true);
  EXPECT_FALSE(failed.contains("structuredContent"));
}

}  // namespace
}  // namespace sandgate::compat::mcp
