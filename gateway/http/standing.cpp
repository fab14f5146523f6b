#include "gateway/http/standing.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::seconds kLookAgain{1};

// What is needed to check the access of a stream's caller again.
struct Standing {
  Request credentials;
  const Route& route;
  Authenticator& authenticator;
  const Admission* admission;
};
using SharedStanding = std::shared_ptr<const Standing>;

bool is_refusal(const Error& error) {
  return error.code == ErrorCode::unauthenticated || error.code == ErrorCode::forbidden ||
         error.code == ErrorCode::not_found;
}

// Only an explicit refusal ends the stream: an outage of the database does not.
Task<bool> stands(SharedStanding standing) {
  auto asking = standing->authenticator.authenticate(standing->credentials);
  const auto outcome = co_await attempt(std::move(asking));
  if (const auto* error = std::get_if<Error>(&outcome)) co_return !is_refusal(*error);
  const Caller& caller = std::get<Caller>(outcome);
  if (!allows(caller.role, standing->route.permission)) co_return false;
  co_return !standing->admission || standing->admission->may_go_on(caller, standing->route);
}

Task<void> until_it_falls(SharedStanding standing) {
  for (bool good = true; good;) {
    co_await sleep_for(kLookAgain);
    good = co_await stands(standing);
  }
}

// Throws when access is lost, so that the client does not take a truncated answer for complete.
Task<void> watched(Task<void> stream, SharedStanding standing) {
  Settled<void> settled;
  auto race = ends_before(settle(std::move(stream), settled), until_it_falls(std::move(standing)));
  const bool ended = co_await std::move(race);
  if (!ended) throw boost::system::system_error(asio::error::operation_aborted);
  settled.take();
}

Task<void> until_refused(Caller caller, const Route& route, const Admission& admission) {
  while (admission.may_go_on(caller, route)) co_await sleep_for(kLookAgain);
}

}  // namespace

Task<Response> while_admitted(Task<Response> work, Caller caller, const Route& route,
                              const Admission* admission) {
  if (!admission) co_return co_await std::move(work);
  Settled<Response> settled;
  auto race =
      ends_before(settle(std::move(work), settled), until_refused(caller, route, *admission));
  const bool ended = co_await std::move(race);
  if (!ended && !settled.value) throw tenant_is_suspended();
  co_return settled.take();
}

void end_with_standing(Response& response, const Request& request, const Route& route,
                       Authenticator& authenticator, const Admission* admission) {
  if (route.permission == Permission::open) return;
  Request credentials;
  credentials.headers = request.headers;
  credentials.target = request.target;
  const auto standing = std::make_shared<const Standing>(
      Standing{std::move(credentials), route, authenticator, admission});
  if (auto* stream = std::get_if<StreamBody>(&response.body))
    stream->produce = [standing, inner = std::move(stream->produce)](BodySink& sink) {
      return watched(inner(sink), standing);
    };
  else if (auto* upgrade = std::get_if<UpgradeBody>(&response.body))
    upgrade->serve = [standing, inner = std::move(upgrade->serve)](WebSocket& socket) {
      return watched(inner(socket), standing);
    };
}

}  // namespace sandgate::http
