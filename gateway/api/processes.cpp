#include "gateway/api/processes.hpp"

#include "gateway/api/exec_answer.hpp"
#include "gateway/api/exec_request.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/process_events.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/http/event_stream.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kStdinPiece = 64 << 10;
// A caller who may only read must not block the process by not reading its output.
constexpr std::chrono::milliseconds kOnlookersTimeout{1000};

// The sort key of a program: those that run, then those that ended, the latest of each first. One
// that ends between two pages moves towards the end of the list, so that none is left out.
std::vector<std::string> place_in_list(const ProcessInfo& process) {
  const int64_t age = INT64_MAX - to_micros(process.started_at);  // of 19 digits since 1970
  return {process.state == ProcessState::exited ? "ended" : "", std::to_string(age), process.id};
}

}  // namespace

void ProcessHandlers::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using Answer = Task<http::Response> (ProcessHandlers::*)(http::Request&);
  const auto add = [&](Method method, std::string tail, BodyMode body, Answer answer) {
    routes.add({.method = method,
                .pattern = "/v1/sandboxes/{id}/processes" + tail,
                .permission = method == Method::get ? http::Permission::read_sandboxes
                                                    : http::Permission::use_sandboxes,
                .body = body,
                .handler =
                    [this, answer](http::Request& r) {
                      return with_failure_cause(access_, r, (this->*answer)(r));
                    },
                .no_min_pace = body == BodyMode::streamed});
  };
  add(Method::get, "", BodyMode::none, &ProcessHandlers::list);
  add(Method::get, "/{pid}", BodyMode::none, &ProcessHandlers::get);
  add(Method::get, "/{pid}/output", BodyMode::none, &ProcessHandlers::output);
  add(Method::post, "/{pid}/stdin", BodyMode::streamed, &ProcessHandlers::write_stdin);
  add(Method::delete_, "/{pid}/stdin", BodyMode::none, &ProcessHandlers::close_stdin);
  add(Method::post, "/{pid}/signal", BodyMode::buffered, &ProcessHandlers::signal);
  add(Method::post, "/{pid}/resize", BodyMode::buffered, &ProcessHandlers::resize);
}

Task<http::Response> ProcessHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 3);
  const OpenSandbox box =
      co_await access_.open(request.caller, request.param("id"), Verb::background);
  const auto all = co_await box.provider->processes(box.backend_id);
  const auto render = [](const ProcessInfo& process) { return to_json(process); };
  co_return http::Response::json(200, page_of_all(page, all, render, place_in_list));
}

Task<http::Response> ProcessHandlers::get(http::Request& request) {
  const OpenSandbox box =
      co_await access_.open(request.caller, request.param("id"), Verb::background);
  const ProcessInfo process = co_await box.provider->process(box.backend_id, request.param("pid"));
  co_return http::Response::json(200, to_json(process));
}

Task<http::Response> ProcessHandlers::output(http::Request& request) {
  const auto seen = http::last_event_id(request);
  const int64_t asked = seen ? 0 : request.query.integer("from", 0, INT64_MAX, 0);
  const OpenSandbox box =
      co_await access_.open(request.caller, request.param("id"), Verb::background);
  const std::string pid = request.param("pid");
  const ProcessInfo process = co_await box.provider->process(box.backend_id, pid);
  // 204 stops a browser from reconnecting to a stream that has ended.
  if (seen == kExitId && process.state == ProcessState::exited)
    co_return http::Response::empty(204);
  const uint64_t from = seen.value_or(static_cast<uint64_t>(asked));
  auto stream = co_await box.provider->attach(box.backend_id, pid, from);
  std::optional<std::chrono::milliseconds> patience;
  if (!http::allows(request.caller.role, http::Permission::use_sandboxes))
    patience = kOnlookersTimeout;
  co_return event_stream_of({.stream = std::move(stream),
                             .process_id = pid,
                             .pty = process.pty,
                             .input = std::nullopt,
                             .reconnects = true,
                             .patience = patience,
                             .box = box,
                             .request_id = request.id});
}

Task<http::Response> ProcessHandlers::write_stdin(http::Request& request) {
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::stdin_);
  std::string piece;
  size_t count = 0, written = 0;
  do {
    piece.resize(kStdinPiece);
    if (request.stream) count = co_await request.stream->read(piece);
    piece.resize(count);
    // An empty body is written too, so that the backend reports a missing process.
    if (count > 0 || written == 0)
      co_await box.provider->write_stdin(box.backend_id, request.param("pid"), piece);
    written += count;
  } while (count > 0);
  co_return http::Response::empty(204);
}

Task<http::Response> ProcessHandlers::close_stdin(http::Request& request) {
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::stdin_);
  co_await box.provider->close_stdin(box.backend_id, request.param("pid"));
  co_return http::Response::empty(204);
}

Task<http::Response> ProcessHandlers::signal(http::Request& request) {
  const int number = signal_request_from(request.json());
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::signal);
  co_await box.provider->signal(box.backend_id, request.param("pid"), number);
  co_return http::Response::empty(204);
}

Task<http::Response> ProcessHandlers::resize(http::Request& request) {
  const Json body = request.json();
  const PtySize size = pty_size_from(body);
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::pty);
  co_await box.provider->resize(box.backend_id, request.param("pid"), size);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
