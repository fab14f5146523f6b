#include "gateway/api/terminal.hpp"

#include "gateway/api/exec.hpp"
#include "gateway/api/process_socket.hpp"
#include "gateway/api/with_failure_cause.hpp"

namespace sandgate::api {
namespace {

// Not every image has bash; every image has sh.
const std::vector<std::string> kLoginShell{
    "/bin/sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash -l; exec sh -l"};

// A parameter with the limits that its namesake has in the body of an exec. Empty when it is left
// out: a variable that a script did not set must not start a shell instead of a command.
std::string text_of(const http::Query& query, const char* name, size_t max) {
  const auto text = query.find(name);
  if (text && (text->empty() || text->size() > max))
    throw Error::invalid(std::string("/") + name,
                         "must have 1 to " + std::to_string(max) + " bytes; it may be left out");
  return text.value_or("");
}

Command terminal_command(const http::Query& query) {
  Command command;
  PtySize size;
  size.cols = static_cast<uint16_t>(query.integer("cols", 1, 1000, size.cols));
  size.rows = static_cast<uint16_t>(query.integer("rows", 1, 1000, size.rows));
  command.pty = size;
  command.env["TERM"] = "xterm-256color";
  command.shell = text_of(query, "command", 131071);
  if (command.shell.empty()) command.argv = kLoginShell;
  command.cwd = text_of(query, "cwd", 4095);
  command.user = text_of(query, "user", 32);
  command.process_id = ProcessId::make().value;
  return command;
}

}  // namespace

void TerminalHandlers::add_routes(http::Routes& routes) {
  using Answer = Task<http::Response> (TerminalHandlers::*)(http::Request&);
  const auto add = [&](const char* pattern, Answer answer) {
    routes.add({.method = http::Method::get,
                .pattern = pattern,
                .permission = http::Permission::use_sandboxes,
                .handler =
                    [this, answer](http::Request& r) {
                      return with_failure_cause(access_, r, (this->*answer)(r));
                    },
                .starts_work = true});
  };
  add("/v1/sandboxes/{id}/processes/{pid}/attach", &TerminalHandlers::attach);
  add("/v1/sandboxes/{id}/terminal", &TerminalHandlers::terminal);
}

Task<http::Response> TerminalHandlers::attach(http::Request& request) {
  request.require_websocket();
  const bool now = request.query.find("from") == "now";
  const uint64_t from =
      now ? kFromNow : static_cast<uint64_t>(request.query.integer("from", 0, INT64_MAX, 0));
  const OpenSandbox box =
      co_await access_.open(request.caller, request.param("id"), Verb::background);
  const std::string pid = request.param("pid");
  co_await box.provider->process(box.backend_id, pid);
  auto stream = co_await box.provider->attach(box.backend_id, pid, from);
  co_return web_socket_of({.box = box,
                           .stream = std::move(stream),
                           .process_id = pid,
                           .request_id = request.id,
                           .from = now ? std::nullopt : std::optional(from)});
}

Task<http::Response> TerminalHandlers::terminal(http::Request& request) {
  request.require_websocket();
  const Command command = terminal_command(request.query);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::exec);
  require_verb(box, Verb::pty);
  auto stream = co_await start_program(box, command);
  const std::string named = stream->process_id();
  co_return web_socket_of({.box = box,
                           .stream = std::move(stream),
                           .process_id = named.empty() ? command.process_id : named,
                           .request_id = request.id});
}

}  // namespace sandgate::api
