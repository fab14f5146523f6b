#include "gateway/api/exec.hpp"

#include <csignal>

#include "gateway/api/process_events.hpp"
#include "gateway/api/process_input.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/accept.hpp"
#include "gateway/placement/backend_failure.hpp"
#include "registry/idempotency_effect.hpp"

namespace sandgate::api {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLateExit{10};
constexpr std::chrono::seconds kLookEvery{1};

bool wants_events(const http::Request& request) {
  const auto accept = request.headers.list("Accept").value_or("");
  return http::prefers(accept, "text/event-stream", "application/json");
}

// EventSource clients repeat a request whose answer broke off, with this header. Here a repeat
// would run the program a second time.
void check_is_no_reconnect(const http::Request& request) {
  if (request.headers.find("Last-Event-ID").value_or("").empty()) return;
  throw Error::invalid("/Last-Event-ID",
                       "would run the program again: what was started goes on at GET "
                       "/v1/sandboxes/{id}/processes/{pid}/output");
}

// Reads on after the caller has left: a program whose output is not read stands still.
Task<http::Response> collect(ProcessWithInput& process, const std::string& process_id,
                             std::optional<CollectedOutput>& output) {
  for (;;) {
    auto event = co_await process.next();
    if (!event) throw ended_without_exit();
    const auto* exit = std::get_if<ProcessExit>(&*event);
    if (exit && output) co_return std::move(*output).answer(process_id, *exit);
    if (exit) co_return http::Response();
    if (output) output->add(std::get<OutputChunk>(*event));
  }
}

// With an Idempotency-Key, the program's id is derived from it and the body, so that a retry finds
// what an unanswered run started. A key is forgotten after a day; another body under it then gets
// another id. Roles share no keys.
std::string new_process_id(const http::Request& request, const SandboxId& box) {
  const auto key = request.headers.find("Idempotency-Key");
  if (!key) return ProcessId::make().value;
  const std::string role(to_string(request.caller.role));
  const std::string asked =
      box.value + "\n" + role + "\n" + std::string(*key) + "\n" + sha256_hex(request.body);
  return ProcessId::kKind + sha256_hex(asked).substr(0, 24);
}

std::string place_of_output(const std::string& process) {
  return "what is kept of its output is at GET /v1/sandboxes/{id}/processes/" + process + "/output";
}

Error started_before(const ExecRequest& asked) {
  const std::string& process = asked.command.process_id;
  Error error(ErrorCode::conflict,
              "an earlier request with this Idempotency-Key started '" + process + "'" +
                  (asked.command.background ? ", but whether that got all of its input is not known"
                                            : ": " + place_of_output(process)));
  error.details = {{"process_id", process}};
  return error;
}

Error paused_meanwhile(const OpenSandbox& box, const std::string& process) {
  const bool shows_output = box.provider->descriptor().can(Verb::background);
  Error error(ErrorCode::conflict, "the sandbox was paused while the call waited for '" + process +
                                       "', which goes on once the sandbox is resumed" +
                                       (shows_output ? ": " + place_of_output(process) : ""));
  error.details = {{"state", "paused"}, {"process_id", process}};
  return error;
}

// Whether the backend knows a program of this id. Backends that name processes themselves do not.
Task<bool> is_known(const OpenSandbox& box, const std::string& process_id) {
  if (!box.provider->descriptor().can(Verb::background)) co_return false;
  const auto found = co_await attempt(box.provider->process(box.backend_id, process_id));
  const auto* failure = std::get_if<Error>(&found);
  if (failure && failure->code != ErrorCode::not_found) throw *failure;
  co_return !failure;
}

// Whether an earlier run of the request started the program in the background. Throws
// Error(conflict) if what it started is not all that was asked for, or no longer known.
Task<bool> was_started(const OpenSandbox& box, const http::Request& request,
                       const ExecRequest& asked) {
  if (!request.headers.find("Idempotency-Key")) co_return false;
  const bool known = co_await is_known(box, asked.command.process_id);
  if (!known && request.earlier.empty()) co_return false;
  if (!known)
    throw Error(
        ErrorCode::conflict,
        "an earlier request with this Idempotency-Key ran the program, or may have, and its "
        "answer was not kept");
  if (asked.input || !asked.command.background) throw started_before(asked);
  co_return true;
}

// Whether a start that failed in this way may have run the program, and a repeat would run it
// again.
bool may_run_twice(const OpenSandbox& box, const Error& failure) {
  return !is_definite_failure(failure) && !are_credentials_refused(failure) &&
         !box.provider->descriptor().repeats_starts;
}

http::Response started_answer(const std::string& process_id) {
  return http::Response::json(202, {{"process_id", process_id}});
}

// A background program that did not get all of its input must not go on as if that were all.
Task<void> feed_or_kill(const OpenSandbox& box, ProcessStream& stream, std::string process_id,
                        std::string input) {
  const auto lost = co_await write_and_close_input(stream, std::move(input));
  if (!lost) co_return;
  co_await attempt(box.provider->signal(box.backend_id, process_id, SIGKILL));
  throw *lost;
}

// What to tell of a start that failed. not_found and conflict may also be about something inside
// the sandbox, so the backend is asked.
Task<Error> explained(const OpenSandbox& box, Error failure) {
  if (failure.code != ErrorCode::not_found && failure.code != ErrorCode::conflict)
    co_return failure;
  const auto found = co_await attempt(box.provider->find(box.backend_id));
  const auto* backend = std::get_if<std::optional<BackendSandbox>>(&found);
  if (backend && !*backend)
    co_await box.access->report_gone(box.id, "the backend no longer knows the sandbox");
  // The sandbox may have just died without its backend knowing yet.
  if (backend && *backend && failure.code == ErrorCode::not_found)
    failure.code = ErrorCode::unavailable;
  co_return failure;
}

// The program that was started. Throws what there is to tell of a failure.
Task<std::unique_ptr<ProcessStream>> started_or_explained(
    const OpenSandbox& box, Outcome<std::unique_ptr<ProcessStream>> started) {
  if (auto* stream = std::get_if<0>(&started)) co_return std::move(*stream);
  auto explaining = explained(box, std::get<Error>(std::move(started)));
  const Error failure = co_await std::move(explaining);
  throw failure;
}

void require_verbs(const OpenSandbox& box, const ExecRequest& request) {
  if (request.command.background) require_verb(box, Verb::background);
  if (request.command.pty) require_verb(box, Verb::pty);
  if (request.input) require_verb(box, Verb::stdin_);
}

}  // namespace

// One program that was asked for. Outlives the call if the sandbox is paused meanwhile.
struct ExecHandlers::Run {
  OpenSandbox box;
  ExecRequest asked;
  std::string claim;  // see http::Request
  std::string process_id;
  std::optional<CollectedOutput> output;  // empty once nobody waits for it
  // The agent in the sandbox enforces the time limit. This limit ends the call if the agent hangs
  // or is starved by the process.
  std::optional<steady_clock::time_point> limit;
  Settled<http::Response> settled;
};

Task<std::unique_ptr<ProcessStream>> start_program(const OpenSandbox& box, const Command& command) {
  auto started = co_await attempt(box.provider->exec(box.backend_id, command));
  co_return co_await started_or_explained(box, std::move(started));
}

void require_verb(const OpenSandbox& box, Verb verb) {
  const Descriptor descriptor = box.provider->descriptor();
  if (descriptor.can(verb)) return;
  Error error = descriptor.known
                    ? Error(ErrorCode::unsupported, "the sandbox's backend has no verb '" +
                                                        std::string(to_string(verb)) + "'")
                    : Error(ErrorCode::unavailable, "the sandbox's backend was not reached yet");
  error.provider = descriptor.provider;
  throw error;
}

void ExecHandlers::add_routes(http::Routes& routes) {
  routes.add(
      {.method = http::Method::post,
       .pattern = "/v1/sandboxes/{id}/exec",
       .permission = http::Permission::use_sandboxes,
       .body = http::BodyMode::buffered,
       .handler = [this](http::Request& r) { return with_failure_cause(access_, r, exec(r)); },
       .max_body_bytes = kMaxExecBodyBytes,
       .idempotent_create = true,
       .resumable = true,
       .secret_answer = true});
}

Task<void> ExecHandlers::forget(const std::string& claim) {
  auto clearing = database_->run([claim](pqxx::work& tx) { clear_effect(tx, claim); });
  co_await attempt(std::move(clearing));
}

// The program is recorded with its Idempotency-Key before it starts: if the client leaves or the
// gateway dies before the answer, a retry does not start it again. A failed start is erased, so
// that a retry can run the program, unless the backend may have started it and would not notice the
// repeat. So is a record whose commit was not confirmed.
Task<std::unique_ptr<ProcessStream>> ExecHandlers::start(const OpenSandbox& box,
                                                         const Command& command,
                                                         const std::string& claim) {
  if (!database_ || claim.empty()) co_return co_await start_program(box, command);
  auto marking = database_->run(
      [claim, made = command.process_id](pqxx::work& tx) { mark_effect(tx, claim, made); });
  const auto marked = co_await attempt(std::move(marking));
  if (const auto* failure = std::get_if<Error>(&marked)) {
    co_await forget(claim);
    throw *failure;
  }
  auto started = co_await attempt(box.provider->exec(box.backend_id, command));
  // Judged by what the backend said: explained, a certain failure may look like an uncertain one.
  const auto* failure = std::get_if<Error>(&started);
  if (failure && !may_run_twice(box, *failure)) co_await forget(claim);
  co_return co_await started_or_explained(box, std::move(started));
}

OutputReservation ExecHandlers::reservation_for(const http::Request& request) const {
  if (!memory_) return nullptr;
  return std::make_shared<http::BodyMemoryQuota::Reservation>(*memory_, request.tenant().value);
}

Task<http::Response> ExecHandlers::answer(std::shared_ptr<Run> run) {
  auto& input = run->asked.input;
  auto starting = start(run->box, run->asked.command, run->claim);
  const auto stream = co_await std::move(starting);
  if (std::string named = stream->process_id(); !named.empty()) run->process_id = std::move(named);
  if (run->asked.command.background) {
    if (input) co_await feed_or_kill(run->box, *stream, run->process_id, std::move(*input));
    co_return started_answer(run->process_id);
  }
  if (!input) co_await attempt(stream->close_stdin());
  ProcessWithInput process(*stream, co_await asio::this_coro::executor, std::move(input));
  auto collecting = collect(process, run->process_id, run->output);
  if (process.has_input()) collecting = with_companion(std::move(collecting), process.run());
  co_return co_await std::move(collecting);
}

Task<void> ExecHandlers::carry_out(std::shared_ptr<Run> run) {
  auto settling = settle(answer(run), run->settled);
  co_await std::move(settling);
}

// A paused sandbox keeps the program from ending and its agent from keeping time.
Task<http::Response> ExecHandlers::wait(std::shared_ptr<Run> run) {
  if (!run->box.can_pause) {
    auto answering = answer(run);
    if (run->limit) answering = within(*run->limit - steady_clock::now(), std::move(answering));
    co_return co_await std::move(answering);
  }
  auto is_over = [run]() -> Task<bool> {
    auto looking = run->box.access->is_paused(run->box.tenant, run->box.id);
    const bool paused = co_await std::move(looking);
    if (!paused && run->limit && steady_clock::now() > *run->limit)
      throw Error(ErrorCode::timeout, "no answer came in time");
    co_return paused;
  };
  auto ending = ends_unless_detached(carry_out(run), kLookEvery, std::move(is_over));
  const bool ended = co_await std::move(ending);
  if (ended) co_return run->settled.take();
  run->output.reset();
  run->box.activity.reset();
  throw paused_meanwhile(run->box, run->process_id);
}

Task<http::Response> ExecHandlers::stream(std::shared_ptr<Run> run, std::string request_id) {
  const Command& command = run->asked.command;
  auto starting = start(run->box, command, run->claim);
  if (run->limit) starting = within(*run->limit - steady_clock::now(), std::move(starting));
  auto started = co_await std::move(starting);
  const std::string named = started->process_id();
  co_return event_stream_of({.stream = std::move(started),
                             .process_id = named.empty() ? run->process_id : named,
                             .pty = command.pty.has_value(),
                             .input = std::move(run->asked.input),
                             .max_bytes = run->asked.max_output_bytes,
                             .box = run->box,
                             .request_id = std::move(request_id)});
}

Task<http::Response> ExecHandlers::exec(http::Request& request) {
  const Json body = request.json();
  ExecRequest asked = exec_request_from(body);
  check_is_no_reconnect(request);
  OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::exec);
  require_verbs(box, asked);
  asked.command.process_id = new_process_id(request, box.id);
  asked.command.once = request.headers.find("Idempotency-Key").has_value();
  const bool repeated = co_await was_started(box, request, asked);
  if (repeated) co_return started_answer(asked.command.process_id);
  const auto run = std::make_shared<Run>();
  run->box = std::move(box);
  run->claim = request.claim;
  run->process_id = asked.command.process_id;
  const auto timeout = asked.command.timeout;
  if (timeout.count() > 0) run->limit = steady_clock::now() + timeout + kLateExit;
  const bool streams = !asked.command.background && wants_events(request);
  if (!streams)
    run->output.emplace(asked.max_output_bytes.value_or(kCollectedBytes), reservation_for(request));
  run->asked = std::move(asked);
  auto answering = streams ? stream(run, request.id) : wait(run);
  co_return co_await std::move(answering);
}

}  // namespace sandgate::api
