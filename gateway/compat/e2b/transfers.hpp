#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::compat::e2b {

// GET and POST /files: streams files from and to the caller's sandbox.
class Transfers {
 public:
  explicit Transfers(SandboxAccess& access) : access_(access) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> read(http::Request& request);
  Task<http::Response> write(http::Request& request);

 private:
  Task<Json> write_parts(OpenSandbox box, const http::Request& request);

  SandboxAccess& access_;
};

}  // namespace sandgate::compat::e2b
