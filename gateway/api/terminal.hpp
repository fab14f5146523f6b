#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// Processes over WebSocket. A binary frame is a channel byte (0 stdin, 1 stdout or pty, 2 stderr)
// followed by data. Text frames are JSON: resize, signal and close_stdin from the client; start,
// exit and error from the server. A malformed frame is answered with error and close code 1008.
class TerminalHandlers {
 public:
  explicit TerminalHandlers(SandboxAccess& access) : access_(access) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> attach(http::Request& request);  // ?from=now|<offset>
  Task<http::Response> terminal(http::Request& request);  // a new PTY: ?cols&rows&command&cwd&user

 private:
  SandboxAccess& access_;
};

}  // namespace sandgate::api
