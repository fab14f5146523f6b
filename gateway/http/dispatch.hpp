#pragma once
#include "gateway/core/relaxed_atomic.hpp"
#include "gateway/http/admission.hpp"
#include "gateway/http/authenticator.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/existence_check.hpp"
#include "gateway/http/http_metrics.hpp"
#include "gateway/http/idempotency.hpp"
#include "gateway/http/query_names.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::http {

// Runs a request through these steps: match, authenticate, permission, admission, body,
// idempotency, handler. The body is read only for callers that may send one. If the resource named
// by {id} does not exist, the answer says so even for a request that is invalid otherwise.
class Dispatcher final : public Responder {
 public:
  // Dependencies; all must outlive the Dispatcher. A null pointer disables that step.
  struct Services {
    Authenticator& authenticator;
    Admission* admission = nullptr;
    IdempotencyStore* idempotency = nullptr;
    HttpMetrics* metrics = nullptr;
    RelaxedAtomic<size_t> body_bytes = 1 << 20;  // limit of a JSON body unless its route sets one
    BodyMemoryQuota* body_memory = nullptr;
    ExistenceCheck* existence_check = nullptr;
    const QueryNames* query_names = nullptr;
    bool accepts_codings = false;  // handlers handle Content-Encoding; otherwise 415
  };
  // `routes` must be complete and outlive this object.
  Dispatcher(const Routes& routes, Services services) : routes_(routes), services_(services) {}

  // Changes Services::body_bytes for bodies that begin later. Thread-safe.
  void set_body_bytes(size_t most) { services_.body_bytes = most; }

  Task<Response> respond(Request& request, IncomingBody& body) override;
  Response refuse_method(const Request& request) override;
  // Calls another route on behalf of a handler's own caller (Request::caller). Checks permission
  // and suspension like respond(), but does not authenticate or count the request again. Throws
  // Error(forbidden) if the tenant is suspended meanwhile, and what the route's handler throws. The
  // body must be set, as text or stream.
  Task<Response> subrequest(Request& request);

 private:
  // The route of a request, and whether its caller passed authentication and admission.
  struct Progress {
    const Route* route = nullptr;
    bool admitted = false;
  };
  Task<Response> answer(Request& request, IncomingBody& body, Progress& progress);
  // The steps of answer(), in order.
  Task<Response> refuse_path(Request& request, std::vector<Method> allowed);
  void admit(Request& request, const Route& route);  // throws if the caller is refused
  // Answers an admitted request whose body has a Content-Encoding.
  Task<Response> refuse_coding(const Request& request);
  // The returned token holds the body's reservation of memory.
  Task<std::shared_ptr<void>> receive(Request& request, IncomingBody& body, const Route& route);
  Task<Response> run(Request& request, const Route& route);
  Task<Response> run_once(Request& request, const Route& route, IdempotentCall call);
  // Makes a streaming answer end when its caller loses access, and counts it as a stream of its
  // tenant: with `permit`, or if that is null with a permit taken here.
  void begin_stream(Response& response, const Request& request, const Route& route,
                    std::shared_ptr<void> permit);
  // Returns `error`, or the not_found of the resource that the admitted request names, if that is
  // missing: it comes before what else is wrong with the request.
  Task<Error> not_found_or(const Request& request, Error error);

  const Routes& routes_;
  Services services_;
};

}  // namespace sandgate::http
