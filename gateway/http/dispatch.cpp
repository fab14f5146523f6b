#include "gateway/http/dispatch.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"
#include "gateway/core/log.hpp"
#include "gateway/http/accept.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/http/revocation.hpp"
#include "gateway/http/target.hpp"

namespace sandgate::http {
namespace {

constexpr size_t kFirstRead = 16 * 1024;
constexpr const char* kCoding = "Content-Encoding";

Error too_large(size_t limit) {
  return Error(ErrorCode::too_large,
               "the body is larger than the " + std::to_string(limit) + " bytes allowed here");
}

// An object without members says nothing, and some clients send it with every request.
constexpr size_t kMaxOfNothing = 64;  // "{}" and white space

Error takes_no_body() {
  return Error::invalid("", "this request takes no body but an object without members");
}

// Memory grows with the bytes received, not with the announced length.
Task<std::string> read_whole(IncomingBody& body, size_t limit,
                             BodyMemoryQuota::Reservation* reservation) {
  if (body.length() && *body.length() > limit) throw too_large(limit);
  std::string text;
  size_t size = 0;
  for (;;) {
    if (size == text.size()) {
      if (size > limit) throw too_large(limit);
      const size_t known = body.length().value_or(limit) + 1;
      const size_t next = std::min({std::max(2 * size, kFirstRead), known + 1, limit + 1});
      if (reservation) reservation->grow_to(next);
      text.resize(next);
    }
    const std::span<char> room(text.data() + size, text.size() - size);
    const size_t bytes = co_await body.read(room);
    if (bytes == 0) break;
    size += bytes;
  }
  text.resize(size);
  co_return text;
}

// Reads a body that must say nothing: an object without members, or no bytes at all.
Task<void> read_nothing(IncomingBody& body) {
  if (body.length().value_or(0) > kMaxOfNothing) throw takes_no_body();
  std::array<char, kMaxOfNothing + 1> text;
  size_t size = 0;
  while (const size_t bytes = co_await body.read(std::span(text).subspan(size))) size += bytes;
  if (size == 0) co_return;
  if (size > kMaxOfNothing) throw takes_no_body();
  const Json said = Json::parse(text.begin(), text.begin() + size, nullptr,
                                /*allow_exceptions=*/false);
  if (!said.is_object() || !said.empty()) throw takes_no_body();
}

// Keeps `permit` alive until the answer has been streamed.
void hold(Response& response, std::shared_ptr<void> permit) {
  if (auto* stream = std::get_if<StreamBody>(&response.body))
    stream->produce = [permit, inner = std::move(stream->produce)](BodySink& sink) {
      return inner(sink);
    };
  else if (auto* upgrade = std::get_if<UpgradeBody>(&response.body))
    upgrade->serve = [permit, inner = std::move(upgrade->serve)](WebSocket& socket) {
      return inner(socket);
    };
}

bool is_text(const Response& response) {
  return std::holds_alternative<std::string>(response.body);
}

bool streams(const Response& response) {
  const auto* stream = std::get_if<StreamBody>(&response.body);
  return stream ? !stream->is_whole : !is_text(response);
}

// Whether the answer will be a stream, as far as that is known before the handler runs.
bool asks_for_stream(const Request& request, const Route& route) {
  const auto accept = request.headers.list("Accept").value_or("");
  return route.streams || request.is_websocket_upgrade() ||
         prefers(accept, "text/event-stream", "application/json");
}

// Applied after replay as well, so that the first answer and its replay have the same Location.
void locate(Response& response, const Route& route) {
  if (route.location_prefix.empty() || response.status != 201) return;
  const auto* body = std::get_if<std::string>(&response.body);
  const Json made = Json::parse(body ? *body : "", nullptr, /*allow_exceptions=*/false);
  const Json id = made.is_object() ? made.value("id", Json()) : Json();
  if (!id.is_string()) return;
  response.headers.emplace_back("Location",
                                std::string(route.location_prefix) + id.get<std::string>());
}

// With duplicates, a proxy may choose another value than the gateway.
void check_single(const Headers& headers) {
  for (const char* name :
       {"Authorization", "X-API-Key", "X-Sandgate-Tenant", "X-Sandgate-Via", "Idempotency-Key"}) {
    const auto is_it = [&](const auto& field) { return equal_ignoring_case(field.first, name); };
    if (std::count_if(headers.fields().begin(), headers.fields().end(), is_it) > 1)
      throw Error::invalid(std::string("/") + name, "must not be sent more than once");
  }
}

// Whether the body has a content coding other than identity.
bool is_coded(const Headers& headers) {
  return std::ranges::any_of(headers.fields(), [](const auto& field) {
    return equal_ignoring_case(field.first, kCoding) && !field.second.empty() &&
           !equal_ignoring_case(field.second, "identity");
  });
}

void check_role(const Caller& caller, const Route& route) {
  if (allows(caller.role, route.permission)) return;
  std::string able;
  for (const std::string_view role : kRoleWords.all())
    if (allows(*kRoleWords.find(role), route.permission))
      able += (able.empty() ? "" : ", ") + std::string(role);
  throw Error(ErrorCode::forbidden, "a key of the role " + std::string(to_string(caller.role)) +
                                        " may not do that; these may: " + able);
}

Error answer_lost(const std::string& made) {
  return Error(ErrorCode::conflict,
               "the first request with this Idempotency-Key was carried out, but its answer was "
               "lost: see '" +
                   made + "'");
}

Response replayed(const StoredAnswer& stored, bool secret) {
  Response response;
  response.status = stored.status;
  response.content_type = stored.content_type;
  response.headers.emplace_back("Idempotent-Replayed", "true");
  if (secret) response.headers.emplace_back("Cache-Control", "no-store");
  response.body = stored.body;
  return response;
}

}  // namespace

Task<Response> Dispatcher::respond(Request& request, IncomingBody& body) {
  const auto begin = std::chrono::steady_clock::now();
  Progress progress;
  Response response;
  std::optional<Error> error;
  std::exception_ptr failure;
  try {
    response = co_await answer(request, body, progress);
  } catch (const Error& known) {
    error = known;  // the common case; avoids rethrowing
  } catch (...) {
    failure = std::current_exception();
  }
  if (error || failure) {
    const auto state = co_await asio::this_coro::cancellation_state;
    const bool left = body.broken() || state.cancelled() != asio::cancellation_type::none;
    if (left && failure) std::rethrow_exception(failure);
    if (left) throw *error;
    if (error && progress.admitted) error = co_await not_found_or(request, std::move(*error));
    response = problem(error ? *error : as_error(failure, request.id), request.id);
  }
  if (services_.metrics)
    services_.metrics->record(progress.route, response.status,
                              std::chrono::steady_clock::now() - begin);
  co_return response;
}

Response Dispatcher::refuse_method(const Request& request) {
  auto allowed = routes_.match(Method::options, split_target(request.target).path).allowed;
  if (allowed.empty())
    return problem(Error(ErrorCode::not_found, "there is nothing at this path"), request.id);
  return method_not_allowed(allowed, request.id);
}

Task<Response> Dispatcher::refuse_path(Request& request, std::vector<Method> allowed) {
  // Unauthenticated callers must not learn which paths exist.
  if (request.path.starts_with("/v1/")) {
    auto checking = services_.authenticator.authenticate(request);
    const auto outcome = co_await attempt(std::move(checking));
    const auto* error = std::get_if<Error>(&outcome);
    // On a missing path, not_found for the named tenant must not hide the answer below.
    if (error && (allowed.empty() || error->code != ErrorCode::not_found)) throw *error;
    if (!error) request.caller = std::get<Caller>(outcome);
  }
  if (!allowed.empty()) co_return method_not_allowed(allowed, request.id);
  const Error error(ErrorCode::not_found, "there is nothing at this path");
  co_return problem(error, request.id);
}

Task<Response> Dispatcher::refuse_coding(const Request& request) {
  auto checking = not_found_or(request, Error::invalid(std::string("/") + kCoding,
                                                       "is not supported: send the body as it is"));
  const Error error = co_await std::move(checking);
  if (error.code != ErrorCode::invalid) throw error;
  Response response = problem(error, 415, request.id);
  response.headers.emplace_back("Accept-Encoding", "identity");
  co_return response;
}

Task<Response> Dispatcher::answer(Request& request, IncomingBody& body, Progress& progress) {
  auto match = routes_.match(request.method, split_target(request.target).path);
  const Route* route = progress.route = match.route;
  check_single(request.headers);
  if (!route) co_return co_await refuse_path(request, std::move(match.allowed));
  request.route = route->pattern;
  request.params = std::move(match.params);
  if (route->permission != Permission::open) {
    request.caller = co_await services_.authenticator.authenticate(request);
    admit(request, *route);
  }
  progress.admitted = true;
  if (services_.query_names) services_.query_names->check(*route, request.query);
  if (!services_.accepts_codings && !body.ended() && is_coded(request.headers))
    co_return co_await refuse_coding(request);
  if (route->idempotent_create) check_idempotency_key(request);
  std::shared_ptr<void> permit, reservation;
  if (route->body == BodyMode::streamed) {
    request.stream = &body;
    if (route->no_min_pace) body.set_min_pace(IncomingBody::MinPace::none);
    if (services_.admission) permit = services_.admission->open_stream(request.caller);
  } else if (!body.ended()) {
    reservation = co_await receive(request, body, *route);
  }
  // Before the handler: a program that it starts for a stream would go on without the refused one.
  if (!permit && services_.admission && asks_for_stream(request, *route))
    permit = services_.admission->open_stream(request.caller);
  auto running = run(request, *route);
  // The client decides how long such a body takes, and what is in it.
  if (route->body == BodyMode::streamed && !body.ended())
    running = while_granted(std::move(running), request, *route, services_.authenticator,
                            services_.admission);
  if (request.trace) running = with_trace(request.trace, std::move(running));
  Response response = co_await std::move(running);
  locate(response, *route);
  if (reservation) hold(response, std::move(reservation));
  if (streams(response)) begin_stream(response, request, *route, std::move(permit));
  co_return response;
}

void Dispatcher::admit(Request& request, const Route& route) {
  if (services_.admission) services_.admission->count_connection(request, Requester::caller);
  check_role(request.caller, route);
  if (services_.admission) services_.admission->admit(request.caller, route);
}

void Dispatcher::begin_stream(Response& response, const Request& request, const Route& route,
                              std::shared_ptr<void> permit) {
  end_when_revoked(response, request, route, services_.authenticator, services_.admission);
  if (!services_.admission || !request.caller.tenant) return;
  if (!permit) permit = services_.admission->open_stream(request.caller);
  if (permit) hold(response, std::move(permit));
}

Task<Response> Dispatcher::subrequest(Request& request) {
  auto match = routes_.match(request.method, split_target(request.target).path);
  if (!match.route) throw Error(ErrorCode::not_found, "there is nothing at this path");
  request.route = match.route->pattern;
  request.params = std::move(match.params);
  check_role(request.caller, *match.route);
  if (services_.admission && !services_.admission->may_continue(request.caller, *match.route))
    throw tenant_is_suspended();
  if (match.route->idempotent_create) check_idempotency_key(request);
  auto running =
      while_admitted(run(request, *match.route), request.caller, *match.route, services_.admission);
  co_return co_await std::move(running);
}

Task<std::shared_ptr<void>> Dispatcher::receive(Request& request, IncomingBody& body,
                                                const Route& route) {
  body.set_min_pace(IncomingBody::MinPace::whole);
  if (route.body == BodyMode::none) {
    auto reading = read_nothing(body);
    co_await std::move(reading);
    co_return nullptr;
  }
  std::shared_ptr<BodyMemoryQuota::Reservation> reservation;
  if (services_.body_memory && services_.body_memory->counts(body.length())) {
    const auto& tenant = request.caller.tenant;
    reservation = std::make_shared<BodyMemoryQuota::Reservation>(*services_.body_memory,
                                                                 tenant ? tenant->value : "");
  }
  const size_t limit = route.max_body_bytes > 0 ? route.max_body_bytes : services_.body_bytes.get();
  std::shared_ptr<void> arriving;
  if (services_.admission) arriving = services_.admission->open_body(request.caller);
  request.body = co_await read_whole(body, limit, reservation.get());
  co_return reservation;
}

// Not a coroutine: each coroutine that an exception passes rethrows it.
Task<Response> Dispatcher::run(Request& request, const Route& route) {
  if (route.idempotent_create && services_.idempotency && route.body != BodyMode::streamed) {
    auto call = idempotent_call(request);
    if (call) {
      call->sealed = route.secret_answer;
      return run_once(request, route, std::move(*call));
    }
  }
  return route.handler(request);
}

Task<Error> Dispatcher::not_found_or(const Request& request, Error error) {
  const bool is_wrong = error.code == ErrorCode::invalid || error.code == ErrorCode::too_large;
  if (!is_wrong || !services_.existence_check || !request.params.contains("id")) co_return error;
  auto checking = services_.existence_check->check(request);
  const auto outcome = co_await attempt(std::move(checking));
  const auto* missing = std::get_if<Error>(&outcome);
  co_return missing && missing->code == ErrorCode::not_found ? *missing : std::move(error);
}

Task<Response> Dispatcher::run_once(Request& request, const Route& route, IdempotentCall call) {
  auto start = co_await services_.idempotency->start(std::move(call));
  if (!start.claim) co_return replayed(start.answer, route.secret_answer);
  request.claim = start.claim->id();
  request.earlier = std::move(start.earlier);
  Response response;
  std::optional<Error> refusal;
  std::exception_ptr failure;
  try {
    if (!request.earlier.empty() && !route.resumable) throw answer_lost(request.earlier);
    response = co_await route.handler(request);
  } catch (const Error& known) {
    refusal = known;
  } catch (...) {
    failure = std::current_exception();
  }
  if (refusal) refusal = co_await not_found_or(request, std::move(*refusal));
  if (refusal) response = problem(*refusal, request.id);
  if (failure || !is_text(response) || !may_be_replayed(response.status)) {
    start.claim->release();
    if (failure) std::rethrow_exception(failure);
    co_return response;
  }
  // The work is done. A client that disconnects here must find the stored answer when it retries.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  StoredAnswer stored{response.status, response.content_type, std::get<std::string>(response.body)};
  try {
    co_await start.claim->settle(std::move(stored));
  } catch (const Error& error) {
    // The answer is still sent if storing it for replay fails.
    log::warn("idempotent answer not stored",
              {{"request_id", request.id}, {"reason", error.what()}});
  }
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  co_return response;
}

}  // namespace sandgate::http
