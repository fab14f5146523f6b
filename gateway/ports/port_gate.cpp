#include "gateway/ports/port_gate.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/ports/port_token.hpp"
#include "gateway/ports/visitor_error.hpp"

namespace sandgate::ports {
namespace {

Error not_open() {
  return Error(ErrorCode::not_found, "no such port is open: see POST /v1/sandboxes/{id}/ports");
}

// Throws Error(unauthenticated), or Error(not_found) when the sandbox has ended. Never resumes a
// sandbox, since the client is not authenticated yet.
Task<void> check_visitor(SandboxAccess& access, const OpenPort& port, const SandboxId& sandbox,
                         const BroughtToken& brought) {
  std::optional<Error> refusal;
  try {
    check_token(port, brought);
  } catch (const Error& error) {
    refusal = error;
  }
  if (!refusal) co_return;
  auto judging = access.judge(port.tenant, sandbox, not_open());
  const Error told = co_await std::move(judging);
  throw says_ended(told) ? not_open() : *refusal;
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

bool PortGate::passes_on(const http::Request& request) const {
  return is_for_port(request, settings_.domain);
}

Task<http::Response> PortGate::respond(http::Request& request, http::IncomingBody& body) {
  return passes_on(request) ? serve(request, body) : inner_.respond(request, body);
}

http::Response PortGate::refuse_method(const http::Request& request) {
  if (!passes_on(request)) return inner_.refuse_method(request);
  using http::Method;
  return http::wrong_method({Method::get, Method::head, Method::post, Method::put, Method::patch,
                             Method::delete_, Method::options},
                            request.id);
}

Task<http::Response> PortGate::serve(http::Request& request, http::IncomingBody& body) {
  request.route = "/p/{id}/{port}";
  if (is_refused_method(request)) co_return refuse_method(request);
  auto admitting = admit(request, body);
  auto outcome = co_await attempt(std::move(admitting));
  if (const auto* error = std::get_if<Error>(&outcome)) co_return http::problem(*error, request.id);
  co_return std::get<http::Response>(std::move(outcome));
}

Task<PortStore::Shared> PortGate::row_of(const SandboxId& sandbox, uint16_t port) {
  if (auto known = parts_.ports.peek(sandbox, port)) co_return std::move(*known);
  co_return co_await parts_.ports.find(sandbox, port);
}

Task<PortStore::Shared> PortGate::find(const PortAddress& address) {
  PortStore::Shared port = co_await row_of(address.sandbox, address.port);
  if (!port) port = co_await row_of(address.sandbox, kEveryPort);
  if (!port) throw not_open();
  if (port->is_over(parts_.clock.now()))
    throw Error(ErrorCode::not_found, "the port was open until " + to_rfc3339(*port->expires_at));
  co_return port;
}

Task<bool> PortGate::is_open(PortAddress address, std::string salt) {
  auto finding = find(address);
  const auto found = co_await attempt(std::move(finding));
  if (const auto* error = std::get_if<Error>(&found)) co_return error->code != ErrorCode::not_found;
  co_return std::get<PortStore::Shared>(found)->salt == salt;
}

Task<http::Response> PortGate::admit(http::Request& request, http::IncomingBody& body) {
  const auto address = port_address(request, settings_.domain);
  if (!address) throw not_open();
  if (address->path.empty()) co_return redirect_below(*address);
  const PortStore::Shared port = co_await find(*address);
  const BroughtToken brought = brought_token(request, *address);
  auto checking = check_visitor(parts_.access, *port, address->sandbox, brought);
  co_await std::move(checking);
  // An admitted client acts as a user of the sandbox.
  request.caller = {.role = http::Role::developer, .tenant = port->tenant};
  parts_.admission.count_connection(request, http::Requester::visitor);
  request.caller.suspended = co_await parts_.tenants.is_suspended(port->tenant);
  auto opening = parts_.access.open(request.caller, address->sandbox.value, Verb::ports);
  auto opened = co_await attempt(std::move(opening));
  // The ports of an ended sandbox count as closed.
  if (const auto* failure = std::get_if<Error>(&opened))
    throw says_ended(*failure) ? not_open() : for_visitor(*failure);
  OpenSandbox box = std::get<OpenSandbox>(std::move(opened));
  auto relay = std::make_shared<Relay>(parts_.pool, parts_.access, std::move(box), *address,
                                       request, body, settings_.relay);
  relay->still_open = [this, address = *address, salt = port->salt] {
    return is_open(address, salt);
  };
  if (brought.in_query && port->access == Access::token)
    relay->cookie = token_cookie(brought.tokens.front(), *address,
                                 scheme_of(request, settings_.relay.tls) == "https");
  http::Response response;
  response.body =
      http::RelayBody{[relay](http::ClientSide& client) { return relay.get()->serve(client); }};
  co_return response;
}

}  // namespace sandgate::ports
