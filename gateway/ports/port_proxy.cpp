#include "gateway/ports/port_proxy.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/ports/port_token.hpp"
#include "gateway/ports/visitor_error.hpp"

namespace sandgate::ports {
namespace {

Error not_open() {
  return Error(ErrorCode::not_found, "no such port is open: see POST /v1/sandboxes/{id}/ports");
}

std::optional<Error> refusal_of(const OpenPort& port, const PresentedTokens& presented) {
  try {
    check_token(port, presented);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  }
}

// Always throws. The port of an ended sandbox counts as closed. Never resumes a sandbox, since the
// client is not authenticated.
Task<void> refuse(Error refusal, SandboxAccess& access, const OpenPort& port,
                  const SandboxId& sandbox) {
  auto judging = access.translate_failure(port.tenant, sandbox, not_open());
  const Error told = co_await std::move(judging);
  throw says_ended(told) ? not_open() : refusal;
}

http::Response redirect_below(const PortAddress& address) {
  http::Response response = http::Response::empty(308);
  std::string location = address.prefix + "/";
  if (!address.query.empty()) location.append("?").append(address.query);
  response.headers.emplace_back("Location", std::move(location));
  return response;
}

// The gateway answers HTTP requests and opens no tunnels, and an echo would show a page's scripts
// the cookies that they must not read.
bool is_refused_method(const http::Request& request) {
  return request.method_name() == "CONNECT" || request.method_name() == "TRACE";
}

}  // namespace

bool PortProxy::is_passthrough(const http::Request& request) const {
  return is_for_port(request, settings_.domain);
}

Task<http::Response> PortProxy::respond(http::Request& request, http::IncomingBody& body) {
  return is_passthrough(request) ? serve(request, body) : inner_.respond(request, body);
}

http::Response PortProxy::refuse_method(const http::Request& request) {
  if (!is_passthrough(request)) return inner_.refuse_method(request);
  using http::Method;
  return http::method_not_allowed({Method::get, Method::head, Method::post, Method::put,
                                   Method::patch, Method::delete_, Method::options},
                                  request.id);
}

Task<http::Response> PortProxy::serve(http::Request& request, http::IncomingBody& body) {
  request.route = "/p/{id}/{port}";
  if (is_refused_method(request)) co_return refuse_method(request);
  auto admitting = admit(request, body);
  auto outcome = co_await attempt(std::move(admitting));
  if (const auto* error = std::get_if<Error>(&outcome)) co_return http::problem(*error, request.id);
  co_return std::get<http::Response>(std::move(outcome));
}

PortStore::Shared PortProxy::known(const PortAddress& address) {
  auto port = parts_.ports.peek(address.sandbox, address.port);
  if (port && !*port) port = parts_.ports.peek(address.sandbox, kEveryPort);
  return port.value_or(nullptr);
}

Task<PortStore::Shared> PortProxy::find(const PortAddress& address) {
  PortStore::Shared port = known(address);
  if (!port) port = co_await parts_.ports.find(address.sandbox, address.port);
  if (!port) port = co_await parts_.ports.find(address.sandbox, kEveryPort);
  if (!port) throw not_open();
  co_return port;
}

void PortProxy::check_time(const OpenPort& port) const {
  if (port.is_expired(parts_.clock.now()))
    throw Error(ErrorCode::not_found, "the port was open until " + to_rfc3339(*port.expires_at));
}

Task<bool> PortProxy::is_open(PortAddress address, std::string salt) {
  auto finding = find(address);
  const auto found = co_await attempt(std::move(finding));
  if (const auto* error = std::get_if<Error>(&found)) co_return error->code != ErrorCode::not_found;
  const auto& port = std::get<PortStore::Shared>(found);
  co_return port->salt == salt && !port->is_expired(parts_.clock.now());
}

Task<http::Response> PortProxy::admit(http::Request& request, http::IncomingBody& body) {
  const auto address = port_address(request, settings_.domain);
  if (!address) throw not_open();
  if (address->path.empty()) co_return redirect_below(*address);
  PortStore::Shared port = known(*address);
  if (!port) port = co_await find(*address);
  check_time(*port);
  const PresentedTokens presented = presented_tokens(request, *address);
  if (auto refusal = refusal_of(*port, presented)) {
    auto refusing = refuse(*std::move(refusal), parts_.access, *port, address->sandbox);
    co_await std::move(refusing);
  }
  // An admitted client acts as a user of the sandbox.
  request.caller = {.role = http::Role::developer, .tenant = port->tenant};
  parts_.admission.count_connection(request, http::Requester::visitor);
  request.caller.suspended = co_await parts_.tenants.is_suspended(port->tenant);
  std::optional<OpenSandbox> box;
  try {
    auto opening = parts_.access.open(request.caller, address->sandbox.value, Verb::ports);
    box = co_await std::move(opening);
  } catch (const Error& failure) {
    // The ports of an ended sandbox count as closed.
    throw says_ended(failure) ? not_open() : for_visitor(failure);
  }
  co_return relayed(request, body, *address, *port, *std::move(box), presented);
}

http::Response PortProxy::relayed(http::Request& request, http::IncomingBody& body,
                                  const PortAddress& address, const OpenPort& port, OpenSandbox box,
                                  const PresentedTokens& presented) {
  auto relay = std::make_shared<Relay>(parts_.pool, parts_.access, std::move(box), address, request,
                                       body, settings_.relay);
  relay->still_open = [this, address, salt = port.salt] { return is_open(address, salt); };
  if (presented.in_query && port.access == Access::token)
    relay->cookie = token_cookie(presented.tokens.front(), address,
                                 scheme_of(request, settings_.relay.tls) == "https");
  http::Response response;
  response.body =
      http::RelayBody{[relay](http::ClientSide& client) { return relay.get()->serve(client); }};
  return response;
}

}  // namespace sandgate::ports
