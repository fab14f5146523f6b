#include "gateway/compat/e2b/processes.hpp"

#include <csignal>

#include "gateway/api/exec.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/compat/e2b/account.hpp"
#include "gateway/compat/e2b/rpc.hpp"
#include "gateway/compat/e2b/template_environment.hpp"

namespace sandgate::compat::e2b {
namespace {

using namespace std::chrono_literals;

constexpr auto kMaxEndPause = 1s;  // so the end of a killed process is waited for a second or so

const SandboxId& box_of(const http::Request& request) { return *request.caller.sandbox; }

// A process that a streamed answer follows.
struct Followed {
  OpenSandbox box;
  std::unique_ptr<ProcessStream> stream;
  uint32_t pid = 0;
  bool pty = false;
};

Task<void> follow(std::shared_ptr<Followed> process, MessageWriter& out) {
  const Json first = start_event(process->pid);
  co_await out.send(first);
  for (;;) {
    const ProcessEvent event = co_await next_event(process->box, *process->stream);
    const auto* exit = std::get_if<ProcessExit>(&event);
    if (exit && exit->timed_out) throw Error(ErrorCode::timeout, "the command took too long");
    const Json message =
        exit ? end_event(*exit) : output_event(std::get<OutputChunk>(event), process->pty);
    co_await out.send(message);
    if (exit) co_return;
  }
}

http::Response stream_of(const http::Request& request, std::shared_ptr<Followed> process,
                         std::chrono::milliseconds limit = {}) {
  MessageStream stream;
  stream.produce = [process](MessageWriter& out) { return follow(process, out); };
  stream.keep_alive_message = keep_alive_event();
  stream.interval = ping_interval_of(request);
  stream.limit = limit;
  stream.request_id = request.id;
  return message_stream(std::move(stream));
}

// Clients expect `unauthenticated` for an unknown account.
Error as_login(Error error) {
  for (const FieldProblem& field : error.fields)
    if (field.path == "/user") error.code = ErrorCode::unauthenticated;
  return error;
}

Error not_running() { return Error(ErrorCode::not_found, "no such process runs"); }

// A conflict of the process, not of its sandbox.
bool is_conflict(const std::optional<Error>& error) {
  return error && error->code == ErrorCode::conflict && !error->details.contains("state");
}

Task<std::optional<Error>> failure_of(Task<void> work) {
  const auto outcome = co_await attempt(std::move(work));
  const auto* error = std::get_if<Error>(&outcome);
  co_return error ? std::optional(*error) : std::nullopt;
}

// A conflict means that the process has just ended, which clients expect as not_found.
Task<void> on_running(Task<void> work) {
  const auto error = co_await failure_of(std::move(work));
  if (is_conflict(error)) throw not_running();
  if (error) throw *error;
}

Task<bool> runs(OpenSandbox box, std::string process) {
  const auto all = co_await box.provider->processes(box.backend_id);
  co_return std::any_of(all.begin(), all.end(), [&](const ProcessInfo& one) {
    return one.id == process && one.state == ProcessState::running;
  });
}

// Clients take a process to be gone once it is killed. One that cannot end at once is left alone.
Task<void> await_end(OpenSandbox box, std::string process) {
  for (auto pause = 1ms; pause < kMaxEndPause; pause *= 2) {
    const bool still_runs = co_await runs(box, process);
    if (!still_runs) co_return;
    co_await sleep_for(pause);
  }
}

// A conflict means that the process has ended, or else that nothing can be written to it. False:
// the latter.
Task<bool> on_stdin(OpenSandbox box, std::string process, Task<void> work) {
  const auto error = co_await failure_of(std::move(work));
  if (!error) co_return true;
  if (!is_conflict(error)) throw *error;
  const bool still_runs = co_await runs(box, process);
  if (!still_runs) throw not_running();
  co_return false;
}

// The message is {"input":{"stdin":…}} or {"input":{"pty":…}}.
Task<void> write_input(const OpenSandbox& box, const ProcessInfo& process, const Json& message) {
  const Json input = object_of(message, "input");
  const bool pty = has_member(input, "pty");
  if (process.pty != pty)
    throw Error(ErrorCode::invalid, pty ? "the process has no terminal" : "it is a terminal");
  std::string bytes = bytes_of(input, pty ? "pty" : "stdin");
  auto writing = box.provider->write_stdin(box.backend_id, process.id, std::move(bytes));
  const bool written = co_await on_stdin(box, process.id, std::move(writing));
  if (!written)
    throw Error(ErrorCode::conflict,
                "stdin not enabled or closed: a process that reads is started with stdin: true");
}

// A process started without stdin must not wait for input.
Task<void> close_unless(bool open, ProcessStream& stream) {
  if (!open) co_await attempt(stream.close_stdin());
}

}  // namespace

Task<OpenSandbox> Processes::open(const http::Request& request, Verb verb) {
  return access_.open(request.caller, box_of(request).value, verb);
}

// Also throws Error(not_found) for a process that has ended.
Task<ProcessInfo> Processes::running(OpenSandbox box, Selector selector) {
  const auto all = co_await box.provider->processes(box.backend_id);
  for (const ProcessInfo& process : all)
    if (process.state == ProcessState::running && selector.fits(process)) co_return process;
  throw not_running();
}

Task<http::Response> Processes::start(http::Request& request) {
  const Json message = message_of(request);
  StartOrder order = start_order_from(message, box_of(request));
  Command& command = order.command;
  command.user = account_of(request);
  command.timeout = timeout_of(request);
  auto process = std::make_shared<Followed>();
  process->box = co_await open(request, Verb::exec);
  if (command.pty) api::require_verb(process->box, Verb::pty);
  co_await add_template_environment(sandboxes_, process->box.id, command.env);
  // Lets other connections find the process, if the backend can.
  command.background = process->box.provider->descriptor().can(Verb::background);
  process->pty = command.pty.has_value();
  auto starting = api::start_program(process->box, command);
  auto started = co_await attempt(std::move(starting));
  if (auto* error = std::get_if<Error>(&started)) throw as_login(std::move(*error));
  process->stream = std::get<0>(std::move(started));
  const std::string named = process->stream->process_id();
  process->pid = pid_of(named.empty() ? command.process_id : named);
  co_await close_unless(order.stdin_open || process->pty, *process->stream);
  co_return stream_of(request, process);
}

Task<http::Response> Processes::connect(http::Request& request) {
  const Json message = message_of(request);
  const Selector selector = selector_from(message, box_of(request));
  auto process = std::make_shared<Followed>();
  process->box = co_await open(request, Verb::background);
  const OpenSandbox& box = process->box;
  const auto all = co_await box.provider->processes(box.backend_id);
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ProcessInfo& one) { return selector.fits(one); });
  if (found == all.end()) throw Error(ErrorCode::not_found, "no such process");
  process->pid = pid_of(found->id);
  process->pty = found->pty;
  process->stream = co_await box.provider->attach(box.backend_id, found->id, api::kFromNow);
  co_return stream_of(request, process, timeout_of(request));
}

Task<http::Response> Processes::list(http::Request& request) {
  message_of(request);
  const OpenSandbox box = co_await open(request, Verb::background);
  const auto all = co_await box.provider->processes(box.backend_id);
  Json processes = Json::array();
  for (const ProcessInfo& process : all)
    if (process.state == ProcessState::running) processes.push_back(process_json(process));
  co_return http::Response::json(200, {{"processes", std::move(processes)}});
}

Task<http::Response> Processes::send_input(http::Request& request) {
  const Json message = message_of(request);
  const Selector selector = selector_from(message, box_of(request));
  const OpenSandbox box = co_await open(request, Verb::stdin_);
  const ProcessInfo process = co_await running(box, selector);
  co_await write_input(box, process, message);
  co_return http::Response::json(200, Json::object());
}

Task<http::Response> Processes::stream_input(http::Request& request) {
  check_stream(request);
  MessageSource messages(*request.stream, room_, request.tenant().value);
  const OpenSandbox box = co_await open(request, Verb::stdin_);
  std::optional<ProcessInfo> process;
  for (;;) {
    const auto message = co_await messages.next();
    if (!message) break;
    if (has_member(*message, "start")) {
      const Selector selector = selector_from(object_of(*message, "start"), box.id);
      process = co_await running(box, selector);
    } else if (has_member(*message, "data")) {
      if (!process) throw Error(ErrorCode::invalid, "the stream does not begin with its start");
      const Json data = object_of(*message, "data");
      co_await write_input(box, *process, data);
    }
  }
  co_return empty_stream();
}

Task<http::Response> Processes::close_stdin(http::Request& request) {
  const Selector selector = selector_from(message_of(request), box_of(request));
  const OpenSandbox box = co_await open(request, Verb::stdin_);
  const ProcessInfo process = co_await running(box, selector);
  auto closing = box.provider->close_stdin(box.backend_id, process.id);
  co_await on_stdin(box, process.id, std::move(closing));  // closing twice is once
  co_return http::Response::json(200, Json::object());
}

Task<http::Response> Processes::send_signal(http::Request& request) {
  const Json message = message_of(request);
  const Selector selector = selector_from(message, box_of(request));
  const int number = signal_from(message);
  const OpenSandbox box = co_await open(request, Verb::signal);
  const ProcessInfo process = co_await running(box, selector);
  co_await on_running(box.provider->signal(box.backend_id, process.id, number));
  if (number == SIGKILL) co_await attempt(await_end(box, process.id));
  co_return http::Response::json(200, Json::object());
}

Task<http::Response> Processes::update(http::Request& request) {
  const Json message = message_of(request);
  const Selector selector = selector_from(message, box_of(request));
  const auto size = pty_size_from(message);
  const OpenSandbox box = co_await open(request, Verb::pty);
  const ProcessInfo process = co_await running(box, selector);
  if (size) co_await on_running(box.provider->resize(box.backend_id, process.id, *size));
  co_return http::Response::json(200, Json::object());
}

void Processes::add_routes(http::Routes& routes) {
  using Answer = Task<http::Response> (Processes::*)(http::Request&);
  const auto add = [&](std::string method, Answer answer,
                       http::BodyMode body = http::BodyMode::buffered) {
    routes.add({.method = http::Method::post,
                .pattern = "/process.Process/" + method,
                .permission = http::Permission::use_sandboxes,
                .body = body,
                .handler =
                    [this, answer](http::Request& r) {
                      r.params["id"] = box_of(r).value;
                      return api::with_failure_cause(access_, r, (this->*answer)(r));
                    },
                .max_body_bytes = api::kMaxExecBodyBytes,
                .no_min_pace = body == http::BodyMode::streamed,
                .streams = answer == &Processes::start});
  };
  add("Start", &Processes::start);
  add("Connect", &Processes::connect);
  add("List", &Processes::list);
  add("SendInput", &Processes::send_input);
  add("StreamInput", &Processes::stream_input, http::BodyMode::streamed);
  add("CloseStdin", &Processes::close_stdin);
  add("SendSignal", &Processes::send_signal);
  add("Update", &Processes::update);
}

}  // namespace sandgate::compat::e2b
