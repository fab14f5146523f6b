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

}  // namespace sandgate::http
