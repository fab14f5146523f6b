#pragma once
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/method.hpp"

// A tool is a pair of pure functions around one request to the v1 API: `plan` converts arguments to
// the request, `show` converts the answer to the result shown to the model.
namespace sandgate::compat::mcp {

// The sandbox that a tool uses.
enum class Target {
  nowhere,  // none
  own,  // the argument's, or else the session's own, which is created if necessary
  own_if_there,  // the same, but none is created
};

// A request to the v1 API.
struct Plan {
  Target where = Target::nowhere;
  std::string sandbox;  // id from the arguments; empty: none
  http::Method method = http::Method::get;
  std::string path;  // the whole path for Target::nowhere, else the part after /v1/sandboxes/{id}
  std::vector<std::pair<std::string, std::string>> query;
  Json body;  // null: none
  std::optional<std::string> bytes;  // a streamed body
  uint64_t offset = 0;  // offset in a file to read from
  bool repeatable = false;  // the client's Idempotency-Key is passed on
  bool needs_profile = false;  // a body without `profile` gets the configured one
};

struct Answer {
  int status = 200;
  Json json;  // null: no body, or bytes
  std::string bytes;  // of a file, at most kFileBytes
  bool cut = false;  // there are more bytes
  Json entry;  // the file's entry
};

struct Tool {
  std::string name, title, description;
  Json input;  // JSON Schema of the arguments
  Json output;  // JSON Schema of the structured result
  Json hints;  // "annotations"
  // Throws Error(invalid) with paths into the arguments, Error(not_found) for a malformed
  // sandbox_id.
  Plan (*plan)(const Json& arguments);
  // The caller adds sandbox_id, and new_sandbox if the sandbox was created for this call.
  Json (*show)(const Answer& answer, const Plan& plan);
};

constexpr size_t kFileBytes = 128 << 10;  // per read_file call
constexpr size_t kOutputBytes = 64 << 10;  // for each of a program's outputs

// All tools, in the order shown to clients.
const std::vector<Tool>& tools();
// Returns null if there is no such tool.
const Tool* find_tool(std::string_view name);

// Returns a tool's entry in tools/list.
Json to_json(const Tool& tool);
// The result of tools/call: structured, and also as text for clients that only support text.
Json tool_result(const Json& structured);
// The result of a failed call: the problem document as text.
Json failed_result(const Json& problem);

// Reads the arguments of a call; finish() throws the problems found.
class ArgumentReader {
 public:
  explicit ArgumentReader(const Json& arguments) : reader_(arguments, problems_) {}
  ArgumentReader(const ArgumentReader&) = delete;

  ObjectReader* operator->() { return &reader_; }
  // Reads a required argument.
  std::string text(std::string_view name, TextRule rule);
  void finish();

 private:
  Problems problems_;
  ObjectReader reader_;
};

// A request in the sandbox that the argument sandbox_id names, if any. Throws Error(not_found) if
// the argument is malformed.
Plan plan_in(ArgumentReader& arguments, Target where, http::Method method, std::string path);

// Make schemas from the properties (JSON text) and the names of required ones. For tools that work
// in a sandbox, the members for the sandbox are added.
Json arguments_schema(Target where, std::string_view properties, std::vector<std::string> required);
Json result_schema(Target where, std::string_view properties, std::vector<std::string> required);

}  // namespace sandgate::compat::mcp
