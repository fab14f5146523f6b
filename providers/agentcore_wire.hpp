#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/shell_provider.hpp"
#include "providers/vendor_json.hpp"

// Between our values and the words of Amazon Bedrock AgentCore's Code Interpreter. Pure; every to
// function of a document throws Error(unavailable) when it does not have that form.
namespace sandgate::agentcore {

// Settings of the deployment that shape a create.
struct CreateRules {
  std::string interpreter = "aws.codeinterpreter.v1";
  bool is_open = true;  // its network lets everything out; false: nothing
  int64_t keep_alive_seconds = 28'800;
};

// Throws Error(unsupported) for a network that the interpreter does not have, and
// Error(no_capacity) for an image that is another interpreter.
Json to_start(const CreateSpec& spec, const CreateRules& rules);
// The same id gives the same token, in the form that the vendor takes.
std::string to_token(const std::string& sandbox_id);

struct Box {
  BackendSandbox sandbox;
  bool ended = false;
};
Box to_box(const Json& session);

// Sessions know no environment, so it lies in a file that every line of ours reads first.
std::string to_environment_line(const std::map<std::string, std::string>& env);
std::string in_session(const std::string& line);
// A line to its end, and its status after what it printed: the vendor may fold both outputs into
// one and hide the status.
std::string to_command(const std::string& line);

// What a tool answered.
struct ToolResult {
  std::string printed;
  bool failed = false;
};
ToolResult to_result(const std::string& payload);
ShellProvider::Ran to_ran(const ToolResult& result);

}  // namespace sandgate::agentcore
