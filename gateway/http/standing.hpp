#pragma once
#include "gateway/http/admission.hpp"
#include "gateway/http/authenticator.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Ends a streaming answer or WebSocket, within a second or two, when its caller's key was revoked,
// has expired or may no longer do this. `admission` may be null; all outlive the stream. Answers
// that do not stream are left as they are.
void end_with_standing(Response& response, const Request& request, const Route& route,
                       Authenticator& authenticator, const Admission* admission);

// The answer of `work`, which `caller` asked of `route`. Within a second or two after he may no
// longer do this it is broken off with Error(forbidden), unless it is done by then. `admission` may
// be null.
Task<Response> while_admitted(Task<Response> work, Caller caller, const Route& route,
                              const Admission* admission);

}  // namespace sandgate::http
