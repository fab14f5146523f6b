#include "gateway/compat/mcp/tool.hpp"

#include "gateway/compat/mcp/command_tools.hpp"
#include "gateway/compat/mcp/file_tools.hpp"
#include "gateway/compat/mcp/port_tools.hpp"
#include "gateway/compat/mcp/sandbox_tools.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_text.hpp"

namespace sandgate::compat::mcp {
namespace {

Json result(const std::string& text, bool failed) {
  return {{"content", Json::array({{{"type", "text"}, {"text", text}}})}, {"isError", failed}};
}

constexpr std::string_view kSandboxArgument = R"({"sandbox_id": {"type": "string", "description":
  "A sandbox made by sandbox_create. Left out: the sandbox of this session."}})";
constexpr std::string_view kSandboxResult = R"({
  "sandbox_id": {"type": "string"},
  "new_sandbox": {"type": "boolean", "description": "True: it was made for this call, and is empty."}
})";

Json schema_of(std::string_view properties, std::vector<std::string> required) {
  return {{"type", "object"},
          {"properties", Json::parse(properties)},
          {"required", std::move(required)}};
}

}  // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> kTools = {
      run_command_tool(),    run_code_tool(),     read_file_tool(),
      write_file_tool(),     list_files_tool(),   expose_port_tool(),
      sandbox_create_tool(), sandbox_list_tool(), sandbox_kill_tool(),
  };
  return kTools;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool& tool : tools())
    if (tool.name == name) return &tool;
  return nullptr;
}

Json to_json(const Tool& tool) {
  return {
      {"name", tool.name},         {"title", tool.title},         {"description", tool.description},
      {"inputSchema", tool.input}, {"outputSchema", tool.output}, {"annotations", tool.hints}};
}

Json tool_result(const Json& structured) {
  Json done = result(json_text(structured), /*failed=*/false);
  done["structuredContent"] = structured;
  return done;
}

Json failed_result(const Json& problem) { return result(json_text(problem), /*failed=*/true); }

std::string ArgumentReader::text(std::string_view name, TextRule rule) {
  reader_.require(name);
  return reader_.text(name, rule).value_or("");
}

void ArgumentReader::finish() {
  reader_.finish();
  problems_.throw_if_any();
}

Plan plan_in(ArgumentReader& arguments, Target where, http::Method method, std::string path) {
  Plan plan{.where = where, .method = method, .path = std::move(path)};
  // Models pass an empty text for omitted arguments.
  plan.sandbox = arguments->text("sandbox_id", {0, 64}).value_or("");
  // The id becomes part of a path.
  if (!plan.sandbox.empty() && !SandboxId::parse(plan.sandbox))
    throw Error::not_found("sandbox", plan.sandbox);
  return plan;
}

Json arguments_schema(Target where, std::string_view properties,
                      std::vector<std::string> required) {
  Json schema = schema_of(properties, std::move(required));
  schema["additionalProperties"] = false;
  if (where != Target::nowhere) schema["properties"].update(Json::parse(kSandboxArgument));
  return schema;
}

Json result_schema(Target where, std::string_view properties, std::vector<std::string> required) {
  Json schema = schema_of(properties, std::move(required));
  if (where == Target::nowhere) return schema;
  schema["properties"].update(Json::parse(kSandboxResult));
  schema["required"].push_back("sandbox_id");
  return schema;
}

}  // namespace sandgate::compat::mcp
