#pragma once
#include "gateway/api/file_conditions.hpp"
#include "gateway/api/keyed_mutex.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/files. Relative paths start at the home of the sandbox's user; the backend
// resolves and confines all paths. Bad query parameters are Error(invalid) with path "/name".
// Writes and removals with conditions take turns, so that of two for the same state only one
// succeeds.
class FileHandlers {
 public:
  explicit FileHandlers(SandboxAccess& access) : access_(access) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> read(http::Request& request);
  Task<http::Response> write(http::Request& request);  // streams the body
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> stat(http::Request& request);
  Task<http::Response> make_directory(http::Request& request);
  Task<http::Response> move(http::Request& request);
  Task<http::Response> read_archive(http::Request& request);
  Task<http::Response> write_archive(http::Request& request);
  Task<http::Response> watch(http::Request& request);  // server-sent events

 private:
  // Held from judging a change's conditions until it is made; null without conditions. Throws
  // Error(conflict) if an earlier change takes too long.
  Task<std::shared_ptr<void>> turn_for(const OpenSandbox& box, const std::string& path,
                                       const Conditions& conditions);

  SandboxAccess& access_;
  KeyedMutex changes_;  // by sandbox and path
};

}  // namespace sandgate::api
