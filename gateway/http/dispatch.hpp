#pragma once
#include "gateway/core/live.hpp"
#include "gateway/http/admission.hpp"
#include "gateway/http/authenticator.hpp"
#include "gateway/http/body_room.hpp"
#include "gateway/http/http_metrics.hpp"
#include "gateway/http/idempotency.hpp"
#include "gateway/http/presence.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// From a request to its route's answer, in this order: match, authenticate, permission,
// admission, body, idempotency, handler. No body is read for a caller who may not send it. Whoever
// asks for what is not there hears that, however wrong the rest of the request is.
class Dispatcher final : public Responder {
 public:
  // What it asks; all outlive it. Null: nothing is asked or counted.
  struct Services {
    Authenticator& authenticator;
    Admission* admission = nullptr;
    IdempotencyStore* idempotency = nullptr;
    HttpMetrics* metrics = nullptr;
    Live<size_t> body_bytes = 1 << 20;  // of a JSON body, where its route says nothing else
    BodyRoom* body_room = nullptr;
    Presence* presence = nullptr;
    bool takes_codings = false;  // handlers judge Content-Encoding; else such a body is refused
  };
  // `routes` must be complete and outlive it.
  Dispatcher(const Routes& routes, Services services) : routes_(routes), services_(services) {}

  // Of bodies that begin from now on; see Services. On any thread.
  void set_body_bytes(size_t most) { services_.body_bytes = most; }

  Task<Response> respond(Request& request, IncomingBody& body) override;
  Response refuse_method(const Request& request) override;
  // What a handler asks of another route in the name of its own caller (Request::caller): judged
  // and run like what comes from outside, but neither authenticated nor counted again; it ends when
  // its tenant is suspended meanwhile. The body is given, whole or as a stream. Throws what the
  // route's handler throws.
  Task<Response> within(Request& request);

 private:
  // How far a request has come: its route, and whether its caller may use it.
  struct Passage {
    const Route* route = nullptr;
    bool admitted = false;
  };
  Task<Response> answer(Request& request, IncomingBody& body, Passage& passage);
  // The steps of an answer, in their order.
  Task<Response> refuse_path(Request& request, std::vector<Method> allowed);
  void admit(Request& request, const Route& route);  // throws what refuses its caller
  // Of an admitted request with a body that is compressed or the like.
  Task<Response> refuse_coding(const Request& request);
  // What it returns holds the body's room.
  Task<std::shared_ptr<void>> receive(Request& request, IncomingBody& body, const Route& route);
  Task<Response> run(Request& request, const Route& route);
  Task<Response> run_once(Request& request, const Route& route, IdempotentCall call);
  // An answer that streams ends when its caller's standing does, and counts among its tenant's
  // streams: by `permit`, or by one that it gets now.
  void begin_stream(Response& response, const Request& request, const Route& route,
                    std::shared_ptr<void> permit);
  // Of an admitted request: what is told for `error`.
  Task<Error> told_of(const Request& request, Error error);

  const Routes& routes_;
  Services services_;
};

}  // namespace sandgate::http
