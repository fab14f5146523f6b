#include "gateway/compat/e2b/surface.hpp"

#include "gateway/compat/e2b/sandbox_address.hpp"

namespace sandgate::compat::e2b {

Surface::Surface(Parts parts)
    : parts_(std::move(parts)),
      tokens_(parts_.token_key),
      control_({.database = parts_.database,
                .lifecycle = parts_.lifecycle,
                .sandboxes = parts_.sandboxes,
                .pausing = parts_.pausing,
                .snapshots = parts_.snapshots,
                .network = parts_.network,
                .ports = parts_.ports,
                .clock = parts_.clock,
                .tokens = tokens_,
                .domain = parts_.domain}),
      templates_(parts_.snapshots, parts_.profiles),
      processes_(parts_.access, parts_.cache, parts_.body_memory),
      filesystem_(parts_.access, parts_.admission),
      transfers_(parts_.access),
      code_(parts_.access, parts_.cache, parts_.body_memory),
      authenticator_(parts_.cache, parts_.tenants, tokens_, parts_.domain),
      token_index_(parts_.database, tokens_),
      data_(routes_, {.authenticator = authenticator_,
                      .admission = &parts_.admission,
                      .body_bytes = parts_.body_bytes,
                      .body_memory = &parts_.body_memory,
                      .accepts_codings = true}),
      signed_(data_, tokens_, token_index_, parts_.clock, parts_.domain) {
  routes_.add({.method = http::Method::get,
               .pattern = "/health",
               .permission = http::Permission::open,
               .handler = [this](http::Request& request) { return health(request); }});
  processes_.add_routes(routes_);
  filesystem_.add_routes(routes_);
  transfers_.add_routes(routes_);
  code_.add_routes(routes_);
}

std::unique_ptr<http::Responder> Surface::router(http::Responder& api, http::Responder& data,
                                                 bool data_listener) {
  return std::make_unique<PlaneRouter>(api, data,
                                       PlaneRouter::Settings{parts_.domain, data_listener});
}

// A health check does not resume a paused sandbox, which is reported like an ended one. So is a
// token that came alone and names no sandbox that lives.
Task<http::Response> Surface::health(http::Request& request) {
  const auto address = sandbox_address(request, parts_.domain);
  if (!address && !request.headers.find(kTokenHeader))
    throw Error(ErrorCode::invalid, "name the sandbox");
  if (!address) throw wrong_state(SandboxState::stopped);
  const auto known = co_await parts_.cache.find(address->sandbox);
  if (!known) throw wrong_state(SandboxState::stopped);
  check_running(known->record);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::compat::e2b
