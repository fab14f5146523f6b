#pragma once
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/method.hpp"

// A tool is two pure functions around one request to the v1 API: what its arguments ask for, and
// what of the answer a model is shown.
namespace sandgate::compat::mcp {

// The sandbox that a tool works in.
enum class Where {
  nowhere,  // the request names none
  own,  // the one that is named, else the session's own, which is made when there is none
  own_if_there,  // the same, but none is made
};

// One request to the v1 API.
struct Plan {
  Where where = Where::nowhere;
  std::string sandbox;  // the id that was named; empty: none
  http::Method method = http::Method::get;
  std::string path;  // of Where::nowhere the whole, else what follows /v1/sandboxes/{id}
  std::vector<std::pair<std::string, std::string>> query;
  Json body;  // null: none
  std::optional<std::string> bytes;  // a body that is streamed
  uint64_t offset = 0;  // of a file's first byte that is asked for
  bool repeatable = false;  // an Idempotency-Key of the client goes on to it
  bool needs_profile = false;  // a body without `profile` gets that of the settings
};

struct Answer {
  int status = 200;
  Json json;  // null: no body, or bytes
  std::string bytes;  // of a file, kFileBytes at most
  bool cut = false;  // there are more bytes
  Json entry;  // of that file
};

struct Tool {
  std::string name, title, description;
  Json input;  // JSON Schema of the arguments
  Json output;  // JSON Schema of the structured result
  Json hints;  // "annotations"
  // Throws Error(invalid) with pointers into the arguments, Error(not_found) for a sandbox_id that
  // is none.
  Plan (*plan)(const Json& arguments);
  // What the caller adds: sandbox_id, and new_sandbox when it was made for this call.
  Json (*show)(const Answer& answer, const Plan& plan);
};

constexpr size_t kFileBytes = 128 << 10;  // of one read_file
constexpr size_t kOutputBytes = 64 << 10;  // of each output of a program

// All tools, in the order in which clients see them.
const std::vector<Tool>& tools();
// Null: there is none of that name.
const Tool* find_tool(std::string_view name);

// As tools/list shows it.
Json to_json(const Tool& tool);
// The result of tools/call: structured, and the same as text for clients that know only that.
Json tool_result(const Json& structured);
// The result of one that failed: the problem document as text.
Json failed_result(const Json& problem);

// The arguments of a call while they are read; finish() throws what is wrong with them.
class ArgumentReader {
 public:
  explicit ArgumentReader(const Json& arguments) : reader_(arguments, problems_) {}
  ArgumentReader(const ArgumentReader&) = delete;

  ObjectReader* operator->() { return &reader_; }
  // One that is required.
  std::string text(std::string_view name, TextRule rule);
  void finish();

 private:
  Problems problems_;
  ObjectReader reader_;
};

// A request in the sandbox that the argument sandbox_id names, if any. Throws Error(not_found) when
// that is no id.
Plan plan_in(ArgumentReader& arguments, Where where, http::Method method, std::string path);

// Schemas from the text of their properties (JSON) and the names of required ones. Those of tools
// that work in a sandbox have its members too.
Json arguments_schema(Where where, std::string_view properties, std::vector<std::string> required);
Json result_schema(Where where, std::string_view properties, std::vector<std::string> required);

}  // namespace sandgate::compat::mcp
