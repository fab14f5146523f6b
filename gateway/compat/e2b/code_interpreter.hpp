#pragma once
#include "gateway/compat/e2b/template_environment.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::compat::e2b {

// Whether a path belongs to the code interpreter's server, which clients expect on kCodePort.
bool is_code_path(std::string_view path);

// The server of E2B's code interpreter: contexts that keep what code defines, each of one language,
// and one for each language where none is named. They are processes in the sandbox of its own
// account, started by programs that come along with each call, so that the image needs nothing but
// Python. What they tell is passed on line by line and believed in nothing.
class CodeInterpreter {
 public:
  // All must outlive this object.
  CodeInterpreter(SandboxAccess& access, SandboxCache& sandboxes, http::BodyMemoryQuota& room)
      : access_(access), sandboxes_(sandboxes), room_(room) {}
  void add_routes(http::Routes& routes);

 private:
  struct Call;

  // A stream of lines of JSON. A client that leaves interrupts its code; the context lives on.
  Task<http::Response> execute(http::Request& request);
  Task<http::Response> create_context(http::Request& request);
  Task<http::Response> list_contexts(http::Request& request);
  Task<http::Response> remove_context(http::Request& request);
  Task<http::Response> restart_context(http::Request& request);

  // Starts the program with this request and reads its status. Throws Error if it is a refusal.
  Task<std::shared_ptr<Call>> start(const http::Request& request, Json asked);
  // The answer of a call that is answered by one value.
  Task<Json> ask(const http::Request& request, Json asked);

  SandboxAccess& access_;
  SandboxCache& sandboxes_;
  http::BodyMemoryQuota& room_;
};

}  // namespace sandgate::compat::e2b
