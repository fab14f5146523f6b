#include "gateway/compat/e2b/plane_router.hpp"

#include "gateway/compat/e2b/code_interpreter.hpp"
#include "gateway/compat/e2b/error_format.hpp"
#include "gateway/compat/e2b/sandbox_address.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/http/target.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kControl = "/e2b/", kBelow = "/e2b", kHealth = "/health";
constexpr int kNotOpen = 502;

// The answer for a sandbox port that the data plane does not serve. Clients explain a 502 with a
// sandbox whose time is over.
http::Response not_open(const SandboxAddress& address) {
  const Json told{{"code", kNotOpen},
                  {"message", "The sandbox is running but port is not open"},
                  {"sandboxId", address.sandbox.value},
                  {"port", address.port}};
  return http::Response::json(kNotOpen, told);
}

// Whether the data plane has a server there. Both have a health check.
bool is_served(const SandboxAddress& address, const http::Request& request) {
  const std::string_view path = http::split_target(request.target).path;
  if (path == kHealth) return address.port == kDataPort || address.port == kCodePort;
  return address.port == (is_code_path(path) ? kCodePort : kDataPort);
}

// Rewrites a request for the control plane's host to one for this one.
void lead_below(http::Request& request) {
  const http::Target sent = http::split_target(request.target);
  std::string target = std::string(kBelow) + std::string(sent.path);
  if (!sent.query.empty()) target += "?" + std::string(sent.query);
  request.target = std::move(target);
  request.path.insert(0, kBelow);
  request.headers.set("Host", "localhost");
}

// A token of an account at E2B. Clients that find one in the environment send it besides the key.
bool is_account_token(std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ", kToken = "sk_e2b_";
  if (!starts_with_ignoring_case(authorization, kBearer)) return false;
  authorization.remove_prefix(kBearer.size());
  return authorization.starts_with(kToken) &&
         authorization.find_first_of(", ") == std::string::npos;
}

// The key decides, as at E2B: a token that is no key of ours would be refused beside it.
void drop_account_token(http::Request& request) {
  const auto key = request.headers.find("X-API-Key");
  if (!key || !is_account_token(request.headers.list("Authorization").value_or(""))) return;
  request.headers.set("Authorization", "Bearer " + std::string(*key));
}

Task<http::Response> reworded(Task<http::Response> answer, ErrorFormat format,
                              std::string sandbox) {
  http::Response given = co_await std::move(answer);
  co_return format_error(std::move(given), format, sandbox);
}

}  // namespace

bool PlaneRouter::is_for_data(const http::Request& request) const {
  if (const auto address = address_by_host(request, settings_.domain))
    return address->port == kDataPort || is_served(*address, request);
  return settings_.data_listener;
}

bool PlaneRouter::is_for_control(const http::Request& request) const {
  return !settings_.data_listener && is_control_host(request, settings_.domain);
}

bool PlaneRouter::is_passthrough(const http::Request& request) const {
  return is_for_data(request) || (!is_for_control(request) && api_.is_passthrough(request));
}

http::Response PlaneRouter::refuse_method(const http::Request& request) {
  return is_for_data(request) ? data_.refuse_method(request) : api_.refuse_method(request);
}

Task<http::Response> PlaneRouter::respond(http::Request& request, http::IncomingBody& body) {
  if (is_for_data(request)) return serve(request, body);
  if (is_for_control(request)) lead_below(request);
  const bool control = request.path.starts_with(kControl);
  if (control) drop_account_token(request);
  auto answer = api_.respond(request, body);
  if (!control) return answer;
  return reworded(std::move(answer), ErrorFormat::control, "");
}

// Decodes the target. Returns an answer if that fails or the method is none.
std::optional<http::Response> PlaneRouter::refusal_of(http::Request& request) {
  try {
    request.decode_target();
  } catch (const Error& error) {
    return http::problem(error, request.id);
  }
  if (request.method == http::Method::other) return data_.refuse_method(request);
  return std::nullopt;
}

Task<http::Response> PlaneRouter::serve(http::Request& request, http::IncomingBody& body) {
  const auto address = sandbox_address(request, settings_.domain);
  if (address && !is_served(*address, request)) co_return not_open(*address);
  std::string sandbox = address ? address->sandbox.value : "";
  if (auto refusal = refusal_of(request))
    co_return format_error(std::move(*refusal), error_format_of(request), sandbox);
  auto answer =
      reworded(data_.respond(request, body), error_format_of(request), std::move(sandbox));
  co_return co_await std::move(answer);
}

}  // namespace sandgate::compat::e2b
