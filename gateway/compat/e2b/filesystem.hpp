#pragma once
#include "gateway/compat/e2b/watchers.hpp"
#include "gateway/http/admission.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::compat::e2b {

// The service filesystem.Filesystem: files of the caller's sandbox, accessed as its own account.
class Filesystem {
 public:
  Filesystem(SandboxAccess& access, http::Admission& admission)
      : access_(access), admission_(admission) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> stat(http::Request& request);
  Task<http::Response> make_directory(http::Request& request);
  Task<http::Response> move(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> watch(http::Request& request);
  Task<http::Response> create_watcher(http::Request& request);
  Task<http::Response> watcher_events(http::Request& request);
  Task<http::Response> remove_watcher(http::Request& request);

 private:
  struct Watched;
  Task<OpenSandbox> open(const http::Request& request, Verb verb);
  Task<std::shared_ptr<Watched>> begin_watch(const http::Request& request, const Json& message);

  SandboxAccess& access_;
  http::Admission& admission_;
  Watchers watchers_;
};

}  // namespace sandgate::compat::e2b
