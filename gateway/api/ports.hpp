#pragma once
#include "gateway/core/secret.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/ports: the ports of a sandbox that are exposed outside.
class PortHandlers {
 public:
  struct Settings {
    std::string domain;  // as in PortProxy
    bool tls = false;
  };
  PortHandlers(SandboxAccess& access, Lifecycle& lifecycle, ports::PortStore& store,
               Settings settings)
      : access_(access), lifecycle_(lifecycle), store_(store), settings_(std::move(settings)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> open(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> close(http::Request& request);

 private:
  // `token`: shown only once, or null.
  Json render(const http::Request& request, const ports::OpenPort& port, const Json& token) const;

  SandboxAccess& access_;
  Lifecycle& lifecycle_;
  ports::PortStore& store_;
  const Settings settings_;
};

}  // namespace sandgate::api
