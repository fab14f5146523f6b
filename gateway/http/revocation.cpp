#include "gateway/http/revocation.hpp"

#include "gateway/core/settle.hpp"

namespace sandgate::http {
namespace {

constexpr std::chrono::seconds kLookAgain{1};

// What is needed to check a caller's access again.
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

// Why the access is no longer granted; empty while it is. Only an explicit refusal counts: an
// outage of the database does not.
Task<std::optional<Error>> loss_of_access(SharedAccess access) {
  auto asking = access->authenticator.authenticate(access->credentials);
  const auto outcome = co_await attempt(std::move(asking));
  if (const auto* error = std::get_if<Error>(&outcome))
    co_return is_refusal(*error) ? std::optional(*error) : std::nullopt;
  const Caller& caller = std::get<Caller>(outcome);
  if (!allows(caller.role, access->route.permission))
    co_return Error(ErrorCode::forbidden, "this key may not do that any more");
  if (access->admission && !access->admission->may_continue(caller, access->route))
    co_return tenant_is_suspended();
  co_return std::nullopt;
}

Task<void> until_revoked(SharedAccess access, std::optional<Error>& loss) {
  while (!loss) {
    co_await sleep_for(kLookAgain);
    auto looking = loss_of_access(access);
    loss = co_await std::move(looking);
  }
}

SharedAccess access_of(const Request& request, const Route& route, Authenticator& authenticator,
                       const Admission* admission) {
  Request credentials;
  credentials.headers = request.headers;
  credentials.target = request.target;
  return std::make_shared<const Access>(
      Access{std::move(credentials), route, authenticator, admission});
}

// Throws when access is lost, so that the client does not take a truncated answer for complete.
Task<void> watched(Task<void> stream, SharedAccess access) {
  Settled<void> settled;
  std::optional<Error> loss;
  auto race =
      ends_before(settle(std::move(stream), settled), until_revoked(std::move(access), loss));
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

Task<Response> while_granted(Task<Response> work, const Request& request, const Route& route,
                             Authenticator& authenticator, const Admission* admission) {
  if (route.permission == Permission::open) co_return co_await std::move(work);
  SharedAccess access = access_of(request, route, authenticator, admission);
  Settled<Response> settled;
  std::optional<Error> loss;
  auto race = ends_before(settle(std::move(work), settled), until_revoked(std::move(access), loss));
  const bool ended = co_await std::move(race);
  if (!ended && !settled.value) throw *loss;
  co_return settled.take();
}

void end_when_revoked(Response& response, const Request& request, const Route& route,
                      Authenticator& authenticator, const Admission* admission) {
  if (route.permission == Permission::open) return;
  const SharedAccess access = access_of(request, route, authenticator, admission);
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
