#include "gateway/api/exec_request.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace sandgate::api {
namespace {

std::vector<std::string> problem_paths(const Json& body) {
  try {
    exec_request_from(body);
    return {};
  } catch (const Error& error) {
    std::vector<std::string> paths;
    for (const auto& field : error.fields) paths.push_back(field.path);
    return paths;
  }
}

using Paths = std::vector<std::string>;

TEST(ExecRequest, ReadsEveryField) {
  const auto request = exec_request_from({{"command", {"a", "b"}},
                                          {"cwd", "/tmp"},
                                          {"env", {{"A", "1"}}},
                                          {"user", "root"},
                                          {"stdin_base64", "AAE="},
                                          {"timeout_ms", 1500},
                                          {"pty", {{"cols", 100}, {"rows", 30}}},
                                          {"on_disconnect", "keep"},
                                          {"max_output_bytes", 10}});
  EXPECT_EQ(request.command.argv, (Paths{"a", "b"}));
  EXPECT_EQ(request.command.timeout, std::chrono::milliseconds(1500));
  EXPECT_EQ(request.input, std::string("\0\1", 2));
  EXPECT_EQ(request.command.pty->cols, 100);
  EXPECT_TRUE(request.command.keep_on_disconnect);
  EXPECT_EQ(request.max_output_bytes, std::optional<size_t>(10));
}

TEST(ExecRequest, BackgroundKeepsAndForegroundKillsByDefault) {
  EXPECT_FALSE(exec_request_from({{"shell", "x"}}).command.keep_on_disconnect);
  EXPECT_TRUE(exec_request_from({{"shell", "x"}, {"background", true}}).command.keep_on_disconnect);
}

TEST(ExecRequest, EveryMistakeHasItsPath) {
  EXPECT_EQ(problem_paths({{"shell", "x"}, {"background", true}, {"on_disconnect", "kill"}}),
            Paths{"/on_disconnect"});
  EXPECT_EQ(problem_paths(Json::object()), Paths{"/command"});
  EXPECT_EQ(problem_paths({{"command", {"a"}}, {"shell", "b"}}), Paths{"/command"});
  EXPECT_EQ(problem_paths({{"command", Json::array()}}), Paths{"/command"});
  EXPECT_EQ(problem_paths({{"command", {"a", 1}}}), Paths{"/command/1"});
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"stdin", "x"}, {"stdin_base64", ""}}),
            Paths{"/stdin_base64"});
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"stdin_base64", "?"}}), Paths{"/stdin_base64"});
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"timeout_ms", 0}, {"nonsense", 1}}),
            (Paths{"/timeout_ms", "/nonsense"}));
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"pty", {{"cols", 0}}}}), Paths{"/pty/cols"});
  for (const char* name : {"A=B", "A B", "1A", ""})
    EXPECT_EQ(problem_paths({{"shell", "a"}, {"env", {{name, "1"}}}}),
              Paths{std::string("/env/") + name});
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"max_output_bytes", 17 << 20}}),
            Paths{"/max_output_bytes"});
}

// The kernel counts NAME=value and a NUL.
TEST(ExecRequest, AVariableIsAsLongAsTheKernelTakes) {
  for (const std::string name : {"A", "LONGER"}) {
    const std::string most((128 << 10) - name.size() - 2, 'v');
    const Json fits{{"shell", "a"}, {"env", {{name, most}}}};
    EXPECT_EQ(problem_paths(fits), Paths());
    EXPECT_EQ(exec_request_from(fits).command.env.at(name), most);
    EXPECT_EQ(problem_paths({{"shell", "a"}, {"env", {{name, most + "v"}}}}),
              Paths{"/env/" + name});
  }
  const std::string longest((128 << 10) - 1, 'a');
  EXPECT_EQ(problem_paths({{"command", {"a", longest}}}), Paths());
  EXPECT_EQ(problem_paths({{"command", {"a", longest + "a"}}}), Paths{"/command/1"});
  EXPECT_EQ(problem_paths({{"shell", "a"}, {"env", {{"A", longest + "a"}}}}), Paths{"/env/A"});
}

TEST(ExecRequest, NullIsAbsent) {
  const auto request = exec_request_from(
      {{"shell", "a"}, {"command", nullptr}, {"stdin", nullptr}, {"timeout_ms", nullptr}});
  EXPECT_EQ(request.command.shell, "a");
  EXPECT_FALSE(request.input);
}

TEST(ExecRequest, ASignalStandsAlone) {
  EXPECT_EQ(signal_request_from({{"signal", "KILL"}}), SIGKILL);
  for (const Json& wrong : {Json::object(), Json{{"signal", "TERM"}, {"pid", 1}}, Json::array()})
    EXPECT_THROW((void)signal_request_from(wrong), Error) << wrong;
}

TEST(ExecRequest, SignalsHaveThreeSpellings) {
  EXPECT_EQ(signal_from("SIGTERM"), SIGTERM);
  EXPECT_EQ(signal_from("TERM"), SIGTERM);
  EXPECT_EQ(signal_from("sigterm"), SIGTERM);
  EXPECT_EQ(signal_from("kill"), SIGKILL);
  EXPECT_FALSE(signal_from("sig"));
  EXPECT_EQ(signal_from(15), SIGTERM);
  EXPECT_FALSE(signal_from("SIGNOTHING"));
  EXPECT_FALSE(signal_from(0));
  EXPECT_FALSE(signal_from(65));
  EXPECT_FALSE(signal_from(nullptr));
}

}  // namespace
}  // namespace sandgate::api
