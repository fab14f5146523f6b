#pragma once
#include "gateway/compat/e2b/process_wire.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"
#include "gateway/sandboxes/sandbox_cache.hpp"

namespace sandgate::compat::e2b {

// The service process.Process: programs in the caller's sandbox. Programs outlive the connection
// that started them and can be found by number or tag.
class Processes {
 public:
  Processes(SandboxAccess& access, SandboxCache& sandboxes, http::BodyMemoryQuota& room)
      : access_(access), sandboxes_(sandboxes), room_(room) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> start(http::Request& request);
  Task<http::Response> connect(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> send_input(http::Request& request);
  Task<http::Response> stream_input(http::Request& request);
  Task<http::Response> close_stdin(http::Request& request);
  Task<http::Response> send_signal(http::Request& request);
  Task<http::Response> update(http::Request& request);

 private:
  Task<OpenSandbox> open(const http::Request& request, Verb verb);
  Task<ProcessInfo> running(OpenSandbox box, Selector selector);

  SandboxAccess& access_;
  SandboxCache& sandboxes_;
  http::BodyMemoryQuota& room_;
};

}  // namespace sandgate::compat::e2b
