#pragma once
#include "gateway/api/exec_answer.hpp"
#include "gateway/api/exec_request.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// POST /v1/sandboxes/{id}/exec. Answers JSON, events (Accept: text/event-stream) or, in the
// background, 202. A caller that goes away drops the stream, and with it the process unless it
// asked to keep it. Never retried: a command may have run even when the answer was lost.
//
// stdin: a JSON answer gives the process what the body holds and closes it. With events or in the
// background it stays open for POST …/stdin unless the body has stdin of its own.
class ExecHandlers {
 public:
  // `room`: what gathered output counts in; null: in nothing. Both outlive it.
  explicit ExecHandlers(SandboxAccess& access, http::BodyRoom* room = nullptr)
      : access_(access), room_(room) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> exec(http::Request& request);

 private:
  OutputSeat seat_for(const http::Request& request) const;

  SandboxAccess& access_;
  http::BodyRoom* room_;
};

// A backend that turns out not to know the sandbox any more is reported.
Task<std::unique_ptr<ProcessStream>> start_program(const OpenSandbox& box, const Command& command);

// Throws Error(unsupported) when the sandbox's backend does not declare the verb.
void require_verb(const OpenSandbox& box, Verb verb);

}  // namespace sandgate::api
