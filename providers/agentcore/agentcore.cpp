#include "providers/agentcore/agentcore.hpp"

#include "gateway/core/random.hpp"
#include "providers/agentcore/aws_event_stream.hpp"
#include "providers/fixed_resources.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/shell/spooled_process.hpp"

namespace sandgate {
namespace {

constexpr auto kToolDeadline = std::chrono::seconds(70);

RestTarget target_of_agentcore(const AgentcoreSettings& settings) {
  RestTarget target = aws_target("agentcore", settings.api_url, settings.keys, settings.region,
                                 "bedrock-agentcore");
  target.allow_private = settings.allow_private;
  return target;
}

}  // namespace

AgentcoreProvider::AgentcoreProvider(HttpClient& http, asio::any_io_executor executor,
                                     AgentcoreSettings settings)
    : ShellProvider(std::move(executor)),
      settings_(std::move(settings)),
      api_(http, target_of_agentcore(settings_)) {}

Descriptor AgentcoreProvider::descriptor() const {
  Descriptor descriptor{
      .provider = "agentcore",
      .isolation = Isolation::microvm,
      .persistence = {Persistence::ephemeral},
      .verbs = {{Verb::exec, Keeps::nothing},
                {Verb::signal, Keeps::nothing},
                {Verb::files, Keeps::nothing}},
      .controls = {Control::cpu_limit, Control::memory_limit, Control::disk_limit},
      .limits = settings_.limits,
      .regions = {settings_.region},
      .notes = {"every session has the same size",
                "output waits on the sandbox's disk until it is fetched"},
      .fixed_lifetime = std::chrono::seconds(settings_.rules.keep_alive_seconds)};
  descriptor.controls.insert(settings_.rules.is_open ? Control::network_allow
                                                     : Control::network_deny);
  return descriptor;
}

Resources AgentcoreProvider::granted(const Resources& asked) const {
  return fixed_resources(settings_.limits, asked);
}

std::string AgentcoreProvider::interpreter_path() const {
  return "/code-interpreters/" + percent_encode(settings_.rules.interpreter);
}

agentcore::Box AgentcoreProvider::to_box(const Json& session) const {
  agentcore::Box box = agentcore::to_box(session);
  box.sandbox.region = settings_.region;
  return box;
}

Task<std::string> AgentcoreProvider::start(const CreateSpec& spec) {
  RestCall call{.method = "PUT",
                .path = interpreter_path() + "/sessions/start",
                .json = agentcore::to_start(spec, settings_.rules)};
  const Json document = co_await api_.create(std::move(call));
  co_return agentcore::to_box(document).sandbox.backend_id;
}

Task<BackendSandbox> AgentcoreProvider::create(CreateSpec spec) {
  BackendSandbox sandbox{
      .sandbox_id = spec.sandbox_id, .isolation = Isolation::microvm, .region = settings_.region};
  sandbox.backend_id = co_await start(spec);
  if (spec.env.empty()) co_return sandbox;
  std::string line = agentcore::to_environment_line(spec.env);
  auto setting = run(sandbox.backend_id, std::move(line));
  co_await set_up(sandbox.backend_id, std::move(setting),
                  "agentcore's sandbox took no environment");
  co_return sandbox;
}

Task<std::optional<BackendSandbox>> AgentcoreProvider::find(std::string id) {
  RestCall call{.path = interpreter_path() + "/sessions/get?sessionId=" + percent_encode(id)};
  const auto document = co_await api_.find(std::move(call));
  if (!document) co_return std::nullopt;
  agentcore::Box box = to_box(*document);
  if (box.ended) co_return std::nullopt;
  co_return std::move(box.sandbox);
}

Task<std::vector<BackendSandbox>> AgentcoreProvider::list() {
  std::vector<BackendSandbox> all;
  Json question{{"maxResults", 100}, {"status", "READY"}};
  ListBudget budget("agentcore");
  for (;;) {
    budget.take_page(question.dump());
    RestCall call{.method = "POST",
                  .path = interpreter_path() + "/sessions/list",
                  .json = question,
                  .budget = budget.bytes()};
    const Json document = co_await api_.call(std::move(call));
    const Json& items = list_of("agentcore", document, "items");
    budget.take_entries(items.size());
    for (const Json& item : items) {
      agentcore::Box box = to_box(item);
      if (!box.ended && !box.sandbox.sandbox_id.empty()) all.push_back(std::move(box.sandbox));
    }
    const std::string next = text_of(document, "nextToken");
    if (next.empty()) break;
    question["nextToken"] = next;
  }
  co_return all;
}

Task<void> AgentcoreProvider::kill(std::string id) {
  // Each stop needs a new token: the vendor answers a known one without stopping anything.
  RestCall call{.method = "PUT",
                .path = interpreter_path() + "/sessions/stop?sessionId=" + percent_encode(id),
                .json = Json{{"clientToken", "sandgate-" + random_hex(16)}}};
  co_await api_.find(std::move(call));
}

Task<agentcore::ToolResult> AgentcoreProvider::invoke(std::string id, std::string tool,
                                                      std::string command) {
  Json body{{"name", std::move(tool)}, {"arguments", {{"command", std::move(command)}}}};
  RestCall call{.method = "POST",
                .path = interpreter_path() + "/tools/invoke",
                .json = std::move(body),
                .headers = {{"x-amzn-code-interpreter-session-id", id}}};
  call.deadline = kToolDeadline;
  call.silence = kToolDeadline;
  auto stream = co_await api_.stream(std::move(call));
  aws::EventMessageReader events("agentcore", std::move(stream));
  std::optional<agentcore::ToolResult> result;
  for (;;) {
    const auto event = co_await events.next();
    if (!event) break;
    if (event->type != "result") continue;
    agentcore::ToolResult part = agentcore::to_result(event->payload);
    if (result) part.printed = result->printed + part.printed;
    if (part.printed.size() > kMaxPrinted) throw unexpected_answer("agentcore");
    result = std::move(part);
  }
  if (!result) throw Error(ErrorCode::unavailable, "agentcore ended the tool without a result");
  co_return std::move(*result);
}

Task<ShellProvider::LineResult> AgentcoreProvider::run(std::string id, std::string line) {
  std::string command = agentcore::to_command(line);
  const agentcore::ToolResult result = co_await invoke(id, "executeCommand", std::move(command));
  co_return agentcore::to_line_result(result);
}

Task<std::unique_ptr<ProcessStream>> AgentcoreProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  auto process = std::make_unique<SpooledProcess>(shared_from_this(), id, std::move(command));
  std::string line = "/bin/sh -c " + shell::quote(agentcore::in_session(process->line()));
  process->launched();
  const auto started = co_await invoke(id, "startCommandExecution", std::move(line));
  if (started.failed) throw Error(ErrorCode::unavailable, "agentcore did not start the process");
  co_return process;
}

}  // namespace sandgate
