#include "gateway/compat/mcp/command_tools.hpp"

#include "gateway/api/exec_request.hpp"

namespace sandgate::compat::mcp {
namespace {

constexpr TextRule kProgram{1, api::kMaxArgumentBytes};
constexpr int64_t kLongestMs = 3'600'000;
// Most clients wait a minute for an answer.
constexpr int64_t kUsualMs = 50'000;

constexpr std::string_view kTimeout = R"("timeout_ms": {"type": "integer", "minimum": 1,
  "maximum": 3600000, "description": "Ends it when it runs longer; 50000 if left out."})";

constexpr std::string_view kOutcome = R"({
  "exit_code": {"type": "integer"},
  "signal": {"type": ["string", "null"]},
  "timed_out": {"type": "boolean"},
  "duration_ms": {"type": "integer"},
  "stdout": {"type": "string"},
  "stderr": {"type": "string"},
  "stdout_base64": {"type": "string", "description": "Instead of stdout when that is not text."},
  "stderr_base64": {"type": "string", "description": "Instead of stderr when that is not text."},
  "truncated": {"type": "boolean"},
  "notice": {"type": "string"}
})";

Json hints() {
  return {{"readOnlyHint", false}, {"destructiveHint", true}, {"openWorldHint", true}};
}

Plan plan_run(ArgumentReader& arguments) {
  Plan plan = plan_in(arguments, Target::own, http::Method::post, "/exec");
  plan.body = {{"timeout_ms", arguments->integer("timeout_ms", 1, kLongestMs).value_or(kUsualMs)},
               {"max_output_bytes", kOutputBytes}};
  return plan;
}

Plan plan_command(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_run(arguments);
  plan.body["shell"] = arguments.text("command", kProgram);
  arguments.finish();
  return plan;
}

std::vector<std::string> program_for(const std::string& language, std::string code) {
  if (language == "python") return {"python3", "-c", std::move(code)};
  if (language == "bash") return {"bash", "-c", std::move(code)};
  return {"node", "-e", std::move(code)};
}

Plan plan_code(const Json& given) {
  ArgumentReader arguments(given);
  Plan plan = plan_run(arguments);
  arguments->require("language");
  const auto language = arguments->word("language", {"python", "javascript", "node", "bash"});
  std::string code = arguments.text("code", kProgram);
  arguments.finish();
  plan.body["command"] = program_for(*language, std::move(code));
  return plan;
}

Json show_outcome(const Answer& answer, const Plan&) {
  Json shown = answer.json;
  shown.erase("process_id");
  if (shown.value("truncated", false))
    shown["notice"] = "each output was cut to its first " + std::to_string(kOutputBytes) +
                      " bytes: write long ones to a file and read parts of it";
  return shown;
}

std::string properties(std::string_view own) {
  return "{" + std::string(own) + ", " + std::string(kTimeout) + "}";
}

Json outcome_schema() {
  return result_schema(Target::own, kOutcome, {"exit_code", "timed_out", "truncated"});
}

}  // namespace

Tool run_command_tool() {
  return {.name = "run_command",
          .title = "Run a command",
          .description =
              "Runs a shell command line in a sandbox and waits for its end. A command "
              "that fails is a result with its exit_code; 124 with timed_out when it "
              "ran too long. Each output is kept up to its first 64 KiB.",
          .input = arguments_schema(Target::own, properties(R"("command": {"type": "string",
            "description": "A line for the shell, with pipes and redirections."})"),
                                    {"command"}),
          .output = outcome_schema(),
          .hints = hints(),
          .plan = plan_command,
          .show = show_outcome};
}

Tool run_code_tool() {
  return {.name = "run_code",
          .title = "Run code",
          .description =
              "Runs a piece of source code in a sandbox, as a program of its own, and "
              "waits for its end: what it prints is the result. Variables do not live "
              "on between calls, files do. Code of more than 128 KiB belongs in a file.",
          .input = arguments_schema(Target::own, properties(R"("language": {"type": "string",
            "enum": ["python", "javascript", "node", "bash"]}, "code": {"type": "string"})"),
                                    {"language", "code"}),
          .output = outcome_schema(),
          .hints = hints(),
          .plan = plan_code,
          .show = show_outcome};
}

}  // namespace sandgate::compat::mcp
