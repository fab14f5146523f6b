#include "gateway/compat/e2b/door.hpp"

#include <charconv>

#include "gateway/compat/e2b/box_address.hpp"
#include "gateway/compat/e2b/wording.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/http/problem.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kControl = "/e2b/", kFiles = "/files";

Error refused(const char* message) { return Error(ErrorCode::unauthenticated, message); }

bool is_over(const std::string& expiration, Time now) {
  int64_t seconds = 0;
  const char* last = expiration.data() + expiration.size();
  const auto [end, failure] = std::from_chars(expiration.data(), last, seconds);
  if (failure != std::errc() || end != last) throw refused("the signature's expiration is no time");
  return seconds < to_micros(now) / 1'000'000;
}

// The port of a sandbox that a data listener does not lead to.
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

bool Door::is_for_data(const http::Request& request) const {
  if (const auto address = address_by_host(request, settings_.domain))
    return address->port == kDataPort;
  return settings_.data_listener;
}

bool Door::passes_on(const http::Request& request) const {
  return !is_for_data(request) && api_.passes_on(request);
}

http::Response Door::refuse_method(const http::Request& request) {
  return is_for_data(request) ? data_.refuse_method(request) : api_.refuse_method(request);
}

Task<http::Response> Door::respond(http::Request& request, http::IncomingBody& body) {
  if (is_for_data(request)) return serve(request, body);
  auto answer = api_.respond(request, body);
  if (!request.path.starts_with(kControl)) return answer;
  return reworded(std::move(answer), Shape::control, "");
}

// A signed address is worth its sandbox's token, for this one request.
Task<void> Door::take_signature(http::Request& request) {
  const auto signature = request.query.find("signature");
  if (request.path != kFiles || !signature || request.headers.find(kTokenHeader)) co_return;
  SignedFile file;
  file.path = request.query.find("path").value_or("");
  file.user = request.query.find("username").value_or("");
  file.writes = request.method == http::Method::post;
  file.expiration = request.query.find("signature_expiration").value_or("");
  if (!may_be_right(file, *signature)) throw refused("the signature is not valid");
  const auto address = box_address(request, settings_.domain);
  std::optional<SandboxId> sandbox;
  if (address) {
    const std::string right = signature_of(file, tokens_.token_of(address->sandbox));
    if (equal_in_constant_time(right, *signature)) sandbox = address->sandbox;
  } else {
    auto searching = live_.find(file, *signature);
    sandbox = co_await std::move(searching);
  }
  if (!sandbox) throw refused("the signature is not valid");
  if (!file.expiration.empty() && is_over(file.expiration, clock_.now()))
    throw refused("signature is already expired");
  if (!address) request.headers.add(std::string(kBoxHeader), sandbox->value);
  request.headers.add(std::string(kTokenHeader), tokens_.token_of(*sandbox));
}

Task<http::Response> Door::serve(http::Request& request, http::IncomingBody& body) {
  const auto address = box_address(request, settings_.domain);
  const Shape shape = shape_of(request);
  const std::string sandbox = address ? address->sandbox.value : "";
  if (address && address->port != kDataPort) co_return not_open(*address);
  auto signing = take_signature(request);
  const auto taken = co_await attempt(std::move(signing));
  if (const auto* error = std::get_if<Error>(&taken))
    co_return worded(http::problem(*error, request.id), shape, sandbox);
  http::Response answer = co_await data_.respond(request, body);
  co_return worded(std::move(answer), shape, sandbox);
}

}  // namespace sandgate::compat::e2b
