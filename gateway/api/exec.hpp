#pragma once
#include "gateway/api/exec_answer.hpp"
#include "gateway/api/exec_request.hpp"
#include "gateway/core/database.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// POST /v1/sandboxes/{id}/exec. Answers with JSON, with events (Accept: text/event-stream), or with
// 202 if the process runs in the background. When the client disconnects, the process is killed
// unless the body's on_disconnect keeps it. Never retried, because a command may have run even if
// its answer was lost. A call that waits for a process, or for its start, ends with Error(conflict)
// when the sandbox is paused; the process goes on, whatever on_disconnect says.
//
// stdin: with a JSON answer, the process gets the body's stdin, which is then closed. With events
// or in the background, stdin stays open for POST …/stdin unless the body contains stdin.
class ExecHandlers {
 public:
  // `memory` limits the memory of collected output; null: no limit. `database` has the claims of
  // Idempotency-Keys; null: none are written. All must outlive this object.
  explicit ExecHandlers(SandboxAccess& access, http::BodyMemoryQuota* memory = nullptr,
                        Database* database = nullptr)
      : access_(access), memory_(memory), database_(database) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> exec(http::Request& request);

 private:
  struct Run;
  Task<std::unique_ptr<ProcessStream>> start(const OpenSandbox& box, const Command& command,
                                             const std::string& claim);
  Task<void> forget(const std::string& claim);  // what was recorded; throws nothing
  // The answer with JSON, or 202.
  Task<http::Response> answer(std::shared_ptr<Run> run);
  Task<void> carry_out(std::shared_ptr<Run> run);  // answer(), into the run; throws nothing
  Task<http::Response> wait(std::shared_ptr<Run> run);  // answer(), unless the sandbox is paused
  Task<http::Response> stream(std::shared_ptr<Run> run, std::string request_id);
  OutputReservation reservation_for(const http::Request& request) const;

  SandboxAccess& access_;
  http::BodyMemoryQuota* memory_;
  Database* database_;
};

// The offset for Provider::attach that skips all output written before.
constexpr uint64_t kFromNow = UINT64_MAX;

// Starts a program. If the backend turns out not to know the sandbox, reports it as gone.
Task<std::unique_ptr<ProcessStream>> start_program(const OpenSandbox& box, const Command& command);

// Throws Error(unsupported) if the sandbox's backend lacks the verb, Error(unavailable) if its
// descriptor is not known yet.
void require_verb(const OpenSandbox& box, Verb verb);

}  // namespace sandgate::api
