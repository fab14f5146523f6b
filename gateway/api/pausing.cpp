#include "gateway/api/pausing.hpp"

#include "gateway/api/sandboxes.hpp"
#include "gateway/core/document_reader.hpp"

namespace sandgate::api {

Keeps read_keeps(ObjectReader& reader) {
  return reader.word("keep", {"memory", "disk"}).value_or("memory") == "disk" ? Keeps::disk
                                                                              : Keeps::memory;
}

Task<http::Response> PausingHandlers::pause(http::Request& request) {
  const SandboxId id = sandbox_id_of(request);
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  const Keeps wish = read_keeps(reader);
  reader.finish_or_throw();
  const SandboxRecord paused = co_await pausing_.pause(request.tenant(), id, wish);
  co_return http::Response::json(200, to_json(paused));
}

Task<http::Response> PausingHandlers::resume(http::Request& request) {
  http::require_not_suspended(request.caller);
  const SandboxId id = sandbox_id_of(request);
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  reader.finish_or_throw();
  const SandboxRecord resumed = co_await pausing_.resume(request.tenant(), id);
  co_return http::Response::json(200, to_json(resumed));
}

void PausingHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::post,
              .pattern = "/v1/sandboxes/{id}/pause",
              .permission = http::Permission::use_sandboxes,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return pause(request); }});
  routes.add({.method = http::Method::post,
              .pattern = "/v1/sandboxes/{id}/resume",
              .permission = http::Permission::use_sandboxes,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return resume(request); }});
}

}  // namespace sandgate::api
