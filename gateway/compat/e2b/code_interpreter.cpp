#include "gateway/compat/e2b/code_interpreter.hpp"

#include <algorithm>
#include <array>

#include "gateway/api/exec.hpp"
#include "gateway/api/process_input.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/compat/e2b/code/programs.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/shared_sink.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr size_t kMaxCode = 32 << 20, kMaxLine = 16 << 20;  // bytes
constexpr size_t kMaxCodeVariables = 1024;
constexpr TextRule kCode{0, kMaxCode}, kVariable{0, api::kMaxArgumentBytes}, kName{0, 256};
constexpr auto kKeepAlive = std::chrono::seconds(15);
// Clients pass over types of events that they do not know.
constexpr const char* kSignOfLife = "{\"type\": \"keepalive\"}\n";
constexpr std::string_view kLastEvent = "{\"type\": \"end_of_execution\"";
constexpr std::array<std::string_view, 5> kEvents{
    "{\"type\": \"number_of_executions\",", "{\"type\": \"stdout\",", "{\"type\": \"stderr\",",
    "{\"type\": \"result\",", "{\"type\": \"error\","};
constexpr const char* kSessionEnded =
    "{\"type\": \"error\", \"name\": \"SessionEnded\", \"value\": \"what ran the code was "
    "ended\", \"traceback\": \"\"}\n";
constexpr int kNoProgram = 127;
// The program comes with the request, since arguments are shown in lists of processes.
constexpr const char* kRunFromInput =
    "import json, sys; request = json.load(sys.stdin.buffer); exec(request['programs']['client'])";

const SandboxId& its_sandbox(const http::Request& request) { return *request.caller.sandbox; }

// The output of a program, line by line.
class Lines {
 public:
  Lines(const OpenSandbox& box, ProcessStream& process, http::BodyMemoryQuota& room,
        std::string tenant)
      : box_(box), process_(process), room_(room, std::move(tenant)) {}

  // Without its end. Empty once the program has exited; a line that has not ended is dropped.
  // Throws Error(too_large).
  Task<std::optional<std::string>> next() {
    for (;;) {
      if (const size_t end = held_.find('\n', looked_); end != std::string::npos) {
        std::string line = held_.substr(0, end);
        held_.erase(0, end + 1);
        looked_ = 0;
        co_return line;
      }
      looked_ = held_.size();
      if (exit) co_return std::nullopt;
      const ProcessEvent event = co_await next_event(box_, process_);
      take(event);
    }
  }

  std::optional<ProcessExit> exit;

 private:
  void take(const ProcessEvent& event) {
    if (const auto* ended = std::get_if<ProcessExit>(&event)) {
      exit = *ended;
      return;
    }
    const auto& chunk = std::get<OutputChunk>(event);
    if (chunk.channel == Channel::stderr_) return;
    if (held_.size() + chunk.bytes.size() > kMaxLine)
      throw Error(ErrorCode::too_large, "a result has more than 16 MiB");
    room_.grow_to(held_.size() + chunk.bytes.size());
    held_ += chunk.bytes;
  }

  const OpenSandbox& box_;
  ProcessStream& process_;
  http::BodyMemoryQuota::Reservation room_;
  std::string held_;
  size_t looked_ = 0;  // no line ends before
};

bool is_event(std::string_view line) {
  return std::ranges::any_of(kEvents,
                             [&](std::string_view kind) { return line.starts_with(kind); }) &&
         Json::accept(line);
}

ErrorCode code_of(int64_t status) {
  switch (status) {
    case 400:
      return ErrorCode::invalid;
    case 404:
      return ErrorCode::not_found;
    case 429:
      return ErrorCode::quota_exceeded;
    default:
      return ErrorCode::unavailable;
  }
}

Error malformed() {
  return Error(ErrorCode::unavailable, "what runs code in the sandbox said nothing intelligible");
}

// What the first line says; throws what it refuses with.
Json accepted(const std::string& line) {
  Json status;
  try {
    status = parse_json(line);
  } catch (const Error&) {
    throw malformed();
  }
  Problems problems;
  ObjectReader reader(status, problems);
  const auto number = reader.integer("status", 200, 599);
  const std::string message = reader.text("message", kCode).value_or("");
  if (!number || !problems.empty()) throw malformed();
  if (*number != 200) throw Error(code_of(*number), message);
  return status.value("answer", Json());
}

Error no_answer(const Lines& lines) {
  if (lines.exit && lines.exit->exit_code == kNoProgram)
    return Error(ErrorCode::unsupported, "code is run with python3, which the image lacks");
  return malformed();
}

Json code_request(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  Json asked{{"call", "execute"}};
  reader.require("code");
  asked["code"] = reader.text("code", kCode).value_or("");
  for (const char* name : {"context_id", "language"})
    if (auto given = reader.text(name, kName)) asked[name] = *std::move(given);
  if (auto env = reader.text_map("env_vars", kMaxCodeVariables, kVariable)) {
    api::check_env_sizes(*env, reader.path_of("env_vars"), problems);
    asked["env_vars"] = *std::move(env);
  }
  problems.throw_if_any();
  return asked;
}

Json context_request(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  Json asked{{"call", "create"}};
  if (auto language = reader.text("language", kName)) asked["language"] = *std::move(language);
  if (auto cwd = reader.text("cwd", {0, 4095})) asked["cwd"] = *std::move(cwd);
  problems.throw_if_any();
  return asked;
}

Command client_command() {
  Command command;
  // Isolated and without the site's packages, as it starts twice as fast; sessions have both.
  command.argv = {"python3", "-I", "-S", "-c", kRunFromInput};
  command.process_id = ProcessId::make().value;
  return command;
}

std::string input_of(Json asked) {
  asked["programs"] = {{"client", client_program()},
                       {"session", session_program()},
                       {"python_session", python_session_program()},
                       {"child_session", child_session_program()},
                       {"node_session", node_session_program()}};
  return asked.dump();
}

}  // namespace

bool is_code_path(std::string_view path) {
  return path == "/execute" || path == "/contexts" || path.starts_with("/contexts/");
}

// A running program, and what it has said.
struct CodeInterpreter::Call {
  Call(OpenSandbox opened, std::unique_ptr<ProcessStream> started, std::string input,
       asio::any_io_executor here, http::BodyMemoryQuota& room, std::string tenant)
      : box(std::move(opened)),
        stream(std::move(started)),
        process(*stream, std::move(here), std::move(input)),
        lines(box, process, room, std::move(tenant)) {}

  // Passes events on until the last one.
  Task<void> relay(http::SharedSink& out) {
    for (;;) {
      auto line = co_await lines.next();
      if (line && line->starts_with(kLastEvent)) co_return;
      // The program ends well only after it has told of an end that came early.
      if (!line && lines.exit->exit_code != 0) co_await out.write(kSessionEnded);
      if (!line) co_return;
      if (!is_event(*line)) continue;
      *line += '\n';
      co_await out.write(*std::move(line));
    }
  }

  const OpenSandbox box;
  const std::unique_ptr<ProcessStream> stream;
  api::ProcessWithInput process;
  Lines lines;
  Json answer;
};

Task<std::shared_ptr<CodeInterpreter::Call>> CodeInterpreter::start(const http::Request& request,
                                                                    Json asked) {
  const SandboxId sandbox = its_sandbox(request);
  OpenSandbox box = co_await access_.open(request.caller, sandbox.value, Verb::exec);
  api::require_verb(box, Verb::stdin_);
  Command command = client_command();
  co_await add_template_environment(sandboxes_, sandbox, command.env);
  auto starting = api::start_program(box, command);
  auto stream = co_await std::move(starting);
  auto call =
      std::make_shared<Call>(std::move(box), std::move(stream), input_of(std::move(asked)),
                             co_await asio::this_coro::executor, room_, request.tenant().value);
  auto first = with_companion(call->lines.next(), call->process.run());
  const auto line = co_await std::move(first);
  if (!line) throw no_answer(call->lines);
  call->answer = accepted(*line);
  co_return call;
}

Task<Json> CodeInterpreter::ask(const http::Request& request, Json asked) {
  auto starting = start(request, std::move(asked));
  const auto call = co_await std::move(starting);
  co_return std::move(call->answer);
}

Task<http::Response> CodeInterpreter::execute(http::Request& request) {
  Json asked = code_request(request.json());
  auto starting = start(request, std::move(asked));
  const auto call = co_await std::move(starting);
  http::Response response = http::Response::streaming("application/x-ndjson");
  response.body = http::StreamBody{std::nullopt, [call](http::BodySink& sink) -> Task<void> {
                                     http::SharedSink out(sink, co_await asio::this_coro::executor);
                                     auto writing = with_companion(
                                         call->relay(out), out.keep_alive(kKeepAlive, kSignOfLife));
                                     co_await std::move(writing);
                                   }};
  co_return response;
}

Task<http::Response> CodeInterpreter::create_context(http::Request& request) {
  Json asked = context_request(request.json());
  auto asking = ask(request, std::move(asked));
  const Json context = co_await std::move(asking);
  co_return http::Response::json(200, context);
}

Task<http::Response> CodeInterpreter::list_contexts(http::Request& request) {
  Json asked{{"call", "list"}};
  auto asking = ask(request, std::move(asked));
  const Json contexts = co_await std::move(asking);
  co_return http::Response::json(200, contexts);
}

Task<http::Response> CodeInterpreter::remove_context(http::Request& request) {
  Json asked{{"call", "remove"}, {"context_id", request.param("context")}};
  auto asking = ask(request, std::move(asked));
  co_await std::move(asking);
  co_return http::Response::empty(204);
}

Task<http::Response> CodeInterpreter::restart_context(http::Request& request) {
  Json asked{{"call", "restart"}, {"context_id", request.param("context")}};
  auto asking = ask(request, std::move(asked));
  co_await std::move(asking);
  co_return http::Response::empty(204);
}

void CodeInterpreter::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using Answer = Task<http::Response> (CodeInterpreter::*)(http::Request&);
  const auto add = [&](Method method, const char* pattern, BodyMode body, Answer answer) {
    routes.add({.method = method,
                .pattern = pattern,
                .permission = http::Permission::use_sandboxes,
                .body = body,
                .handler =
                    [this, answer](http::Request& r) {
                      r.params["id"] = its_sandbox(r).value;
                      return api::with_failure_cause(access_, r, (this->*answer)(r));
                    },
                .max_body_bytes = api::kMaxExecBodyBytes,
                .starts_work = method == Method::get,
                .streams = answer == &CodeInterpreter::execute});
  };
  add(Method::post, "/execute", BodyMode::buffered, &CodeInterpreter::execute);
  add(Method::post, "/contexts", BodyMode::buffered, &CodeInterpreter::create_context);
  add(Method::get, "/contexts", BodyMode::none, &CodeInterpreter::list_contexts);
  add(Method::delete_, "/contexts/{context}", BodyMode::none, &CodeInterpreter::remove_context);
  add(Method::post, "/contexts/{context}/restart", BodyMode::none,
      &CodeInterpreter::restart_context);
}

}  // namespace sandgate::compat::e2b
