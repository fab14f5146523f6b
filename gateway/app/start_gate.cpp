#include "gateway/app/start_gate.hpp"

#include "gateway/http/problem.hpp"
#include "gateway/http/target.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kTryAgain{1};

Task<http::Response> not_yet(const http::Request& request) {
  Error error(ErrorCode::unavailable, "the gateway is starting; its log says what it waits for");
  error.retry_after = kTryAgain;
  co_return http::problem(error, request.id);
}

}  // namespace

// Whoever waits for the start asks often whether it is over.
Task<http::Response> StartGate::answer_early(http::Request& request, http::IncomingBody& body) {
  http::Response response = co_await early_.respond(request, body);
  response.is_expected = true;
  co_return response;
}

Task<http::Response> StartGate::respond(http::Request& request, http::IncomingBody& body) {
  if (open_) return all_.respond(request, body);
  if (all_.is_passthrough(request)) return not_yet(request);
  const auto match = routes_.match(request.method, http::split_target(request.target).path);
  const bool early = match.route && match.route->permission == http::Permission::open;
  return early ? answer_early(request, body) : not_yet(request);
}

}  // namespace sandgate
