#pragma once
#include "gateway/http/admission.hpp"
#include "gateway/http/authenticator.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Makes a streaming answer or WebSocket end within about two seconds after its caller's key was
// revoked or expired, lost the permission, or its tenant was suspended. `admission` may be null;
// all references must outlive the stream. Other answers are left unchanged.
void end_when_revoked(Response& response, const Request& request, const Route& route,
                      Authenticator& authenticator, const Admission* admission);

// Returns the answer of `work`, a request of `caller` on `route`. Cancels `work` within about two
// seconds after the tenant is suspended and throws Error(forbidden), unless the answer is ready by
// then. `admission` may be null.
Task<Response> while_admitted(Task<Response> work, Caller caller, const Route& route,
                              const Admission* admission);

// Returns the answer of `work`, which reads the streamed body of `request`. Cancels `work` within
// about two seconds after the caller lost access as above and throws the Error that refuses it,
// unless the answer is ready by then. `request` and the other references must outlive the task.
Task<Response> while_granted(Task<Response> work, const Request& request, const Route& route,
                             Authenticator& authenticator, const Admission* admission);

}  // namespace sandgate::http
