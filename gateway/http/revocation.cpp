#include "gateway/http/revocation.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::seconds kLookAgain{1};

// What is needed to check the access of a stream's caller again.
struct Access {
  Request credentials;
  const Route& route;
  Authenticator& authenticator;
  const Admission* admission;
};
using SharedAccess = std::shared_ptr<const Access>;

bool is_refusal(const Error& error) {
  return error.code == ErrorCode::unauthenticated || error.code == ErrorCode::forbidden ||
         error.code == ErrorCode::not_found;
}

// Only an explicit refusal ends the stream: an outage of the database does not.
Task<bool> is_still_granted(SharedAccess access) {
  auto asking = access->authenticator.authenticate(access->credentials);
  const auto outcome = co_await attempt(std::move(asking));
  if (const auto* error = std::get_if<Error>(&outcome)) co_return !is_refusal(*error);
  const Caller& caller = std::get<Caller>(outcome);
  if (!allows(caller.role, access->route.permission)) co_return false;
  co_return !access->admission || access->admission->may_continue(caller, access->route);
}

Task<void> until_revoked(SharedAccess access) {
  for (bool granted = true; granted;) {
    co_await sleep_for(kLookAgain);
    granted = co_await is_still_granted(access);
  }
}

// Throws when access is lost, so that the client does not take a truncated answer for complete.
Task<void> watched(Task<void> stream, SharedAccess access) {
  Settled<void> settled;
  auto race = ends_before(settle(std::move(stream), settled), until_revoked(std::move(access)));
  const bool ended = co_await std::move(race);
  if (!ended) throw boost::system::system_error(asio::error::operation_aborted);
  settled.take();
}

Task<void> until_refused(Caller caller, const Route& route, const Admission& admission) {
  while (admission.may_continue(caller, route)) co_await sleep_for(kLookAgain);
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

void end_when_revoked(Response& response, const Request& request, const Route& route,
                      Authenticator& authenticator, const Admission* admission) {
  if (route.permission == Permission::open) return;
  Request credentials;
  credentials.headers = request.headers;
  credentials.target = request.target;
  const auto access = std::make_shared<const Access>(
      Access{std::move(credentials), route, authenticator, admission});
  if (auto* stream = std::get_if<StreamBody>(&response.body))
    stream->produce = [access, inner = std::move(stream->produce)](BodySink& sink) {
      return watched(inner(sink), access);
    };
  else if (auto* upgrade = std::get_if<UpgradeBody>(&response.body))
    upgrade->serve = [access, inner = std::move(upgrade->serve)](WebSocket& socket) {
      return watched(inner(socket), access);
    };
}

}  // namespace sandgate::http
