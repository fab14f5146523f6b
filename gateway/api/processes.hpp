#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/processes: a sandbox's processes, their output from any offset, stdin, signals
// and terminal size.
class ProcessHandlers {
 public:
  explicit ProcessHandlers(SandboxAccess& access) : access_(access) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> output(http::Request& request);  // events, from Last-Event-ID or ?from
  Task<http::Response> write_stdin(http::Request& request);  // streams the body
  Task<http::Response> close_stdin(http::Request& request);
  Task<http::Response> signal(http::Request& request);
  Task<http::Response> resize(http::Request& request);

 private:
  SandboxAccess& access_;
};

}  // namespace sandgate::api
