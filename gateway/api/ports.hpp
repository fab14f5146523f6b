#pragma once
#include "gateway/core/secret.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/ports: which ports of a sandbox are reachable from outside.
class PortHandlers {
 public:
  struct Settings {
    std::string domain;  // as of PortGate
    bool tls = false;
    Secret token_key;  // of tokens that a repeated request must be given again
  };
  PortHandlers(SandboxAccess& access, Lifecycle& lifecycle, ports::PortStore& store,
               Settings settings)
      : access_(access), lifecycle_(lifecycle), store_(store), settings_(std::move(settings)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> open(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> close(http::Request& request);

 private:
  // `token`: shown this once, or null.
  Json render(const http::Request& request, const ports::OpenPort& port, const Json& token) const;

  SandboxAccess& access_;
  Lifecycle& lifecycle_;
  ports::PortStore& store_;
  const Settings settings_;
};

}  // namespace sandgate::api
