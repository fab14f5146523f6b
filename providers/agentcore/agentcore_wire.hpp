#pragma once
#include <optional>
#include <string>

#include "providers/provider.hpp"
#include "providers/shell/shell_provider.hpp"
#include "providers/vendor_json.hpp"

// Converts between Sandgate's values and the JSON of Amazon Bedrock AgentCore's Code Interpreter.
// Pure; the to_ functions that read throw Error(unavailable) for malformed documents.
namespace sandgate::agentcore {

// The deployment's settings for creates.
struct CreateRules {
  std::string interpreter = "aws.codeinterpreter.v1";
  bool is_open = true;  // whether the interpreter's network allows all outbound traffic or none
  int64_t keep_alive_seconds = 28'800;
};

// Throws Error(unsupported) for a network policy that the interpreter does not have, and
// Error(no_capacity) if the image is not this interpreter.
Json to_start(const CreateSpec& spec, const CreateRules& rules);
// A client token in the vendor's format; deterministic for the sandbox id.
std::string to_token(const std::string& sandbox_id);

struct Box {
  BackendSandbox sandbox;
  bool ended = false;
};
Box to_box(const Json& session);

// Sessions have no environment variables: to_environment_line stores them in a file, which
// in_session reads before each line.
std::string to_environment_line(const std::map<std::string, std::string>& env);
std::string in_session(const std::string& line);
// Runs a line and prints its exit status after its output, because the vendor may merge the outputs
// and hide the status.
std::string to_command(const std::string& line);

// The answer of a tool.
struct ToolResult {
  std::string printed;
  bool failed = false;
};
ToolResult to_result(const std::string& payload);
ShellProvider::LineResult to_line_result(const ToolResult& result);

}  // namespace sandgate::agentcore
