#include "gateway/compat/e2b/plane_router.hpp"

#include "gateway/compat/e2b/box_address.hpp"
#include "gateway/compat/e2b/wording.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kControl = "/e2b/";

// The answer for a sandbox port that the data plane does not serve.
http::Response not_open(const BoxAddress& address) {
  const Json told{{"code", 502},
                  {"message", "The sandbox is running but port is not open"},
                  {"sandboxId", address.sandbox.value},
                  {"port", address.port}};
  return http::Response::json(502, told);
}

Task<http::Response> reworded(Task<http::Response> answer, Shape shape, std::string sandbox) {
  http::Response given = co_await std::move(answer);
  co_return worded(std::move(given), shape, sandbox);
}

}  // namespace

bool PlaneRouter::is_for_data(const http::Request& request) const {
  if (const auto address = address_by_host(request, settings_.domain))
    return address->port == kDataPort;
  return settings_.data_listener;
}

bool PlaneRouter::passes_on(const http::Request& request) const {
  return !is_for_data(request) && api_.passes_on(request);
}

http::Response PlaneRouter::refuse_method(const http::Request& request) {
  return is_for_data(request) ? data_.refuse_method(request) : api_.refuse_method(request);
}

Task<http::Response> PlaneRouter::respond(http::Request& request, http::IncomingBody& body) {
  if (is_for_data(request)) return serve(request, body);
  auto answer = api_.respond(request, body);
  if (!request.path.starts_with(kControl)) return answer;
  return reworded(std::move(answer), Shape::control, "");
}

Task<http::Response> PlaneRouter::serve(http::Request& request, http::IncomingBody& body) {
  const auto address = box_address(request, settings_.domain);
  if (address && address->port != kDataPort) co_return not_open(*address);
  std::string sandbox = address ? address->sandbox.value : "";
  auto answer = reworded(data_.respond(request, body), shape_of(request), std::move(sandbox));
  co_return co_await std::move(answer);
}

}  // namespace sandgate::compat::e2b
