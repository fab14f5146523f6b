#include "tests/support/box_gateway.hpp"

namespace sandgate::test {

BoxGateway::BoxGateway(asio::any_io_executor executor)
    : client(routes_), exec_(*this), processes_(*this), files_(*this) {
  provider = std::make_shared<ProcessProvider>(executor, directory_.path());
  exec_.add_routes(routes_);
  processes_.add_routes(routes_);
  files_.add_routes(routes_);
  add_sandbox_routes();
  add_state_routes();
  add_snapshot_routes();
}

Task<OpenSandbox> BoxGateway::open(const http::Caller&, std::string_view id, Verb verb) {
  if (!metadata_.contains(std::string(id))) throw Error::not_found("sandbox", id);
  if (!provider->descriptor().can(verb))
    throw Error(ErrorCode::unsupported, "no verb " + std::string(to_string(verb)));
  co_return OpenSandbox{.access = this,
                        .id = {std::string(id)},
                        .tenant = {},
                        .provider = provider,
                        .backend_id = "box-" + std::string(id),
                        .activity = nullptr,
                        .can_pause = true};
}

Task<Error> BoxGateway::translate_failure(TenantId, SandboxId id, Error failure) {
  if (metadata_.contains(id.value)) co_return failure;
  co_return Error(ErrorCode::conflict, "the sandbox is stopped");
}

Task<bool> BoxGateway::is_paused(TenantId, SandboxId id) { co_return paused_.contains(id.value); }

Task<void> BoxGateway::report_gone(SandboxId id, std::string) {
  gone.push_back(id.value);
  co_return;
}

Task<std::string> BoxGateway::make_box(CreateSpec spec) {
  spec.sandbox_id = SandboxId::make().value;
  const std::string id = spec.sandbox_id;
  metadata_[id] = spec.metadata;
  co_await provider->create(std::move(spec));
  co_return id;
}

Json BoxGateway::document_of(const std::string& id) const {
  return {{"id", id},
          {"state", paused_.contains(id) ? "paused" : "running"},
          {"kept", paused_.contains(id) ? "memory" : "nothing"},
          {"metadata", metadata_.at(id)},
          {"backend", {{"isolation", "process"}, {"region", "here"}}}};
}

void BoxGateway::add_sandbox_routes() {
  using http::Request;
  using http::Response;
  add_route(http::Method::post, "/v1/sandboxes", [this](Request& request) -> Task<Response> {
    const Json body = request.json();
    CreateSpec spec;
    spec.metadata = body["metadata"].get<std::map<std::string, std::string>>();
    spec.snapshot = body.value("snapshot", "");
    spec.env = body["env"].get<std::map<std::string, std::string>>();
    const std::string id = co_await make_box(std::move(spec));
    co_return Response::json(201, document_of(id));
  });
  add_route(http::Method::get, "/v1/sandboxes", [this](Request& request) -> Task<Response> {
    Json items = Json::array();
    const auto tag = request.query.find("metadata.sandgate_id");
    for (const auto& [id, metadata] : metadata_)
      if (!tag || metadata.value("sandgate_id", "") == *tag) items.push_back(document_of(id));
    co_return Response::json(200, {{"items", items}, {"next_cursor", nullptr}});
  });
  add_route(http::Method::get, "/v1/sandboxes/{id}", [this](Request& request) -> Task<Response> {
    if (!metadata_.contains(request.param("id")))
      throw Error::not_found("sandbox", request.param("id"));
    co_return Response::json(200, document_of(request.param("id")));
  });
  add_route(http::Method::delete_, "/v1/sandboxes/{id}",
            [this](Request& request) -> Task<Response> {
              metadata_.erase(request.param("id"));
              co_await provider->kill("box-" + request.param("id"));
              co_return Response::empty(204);
            });
  add_route(http::Method::get, "/v1/descriptor", [this](Request&) -> Task<Response> {
    // Nothing listens for this gateway, so nobody reaches ports through it.
    Descriptor descriptor = provider->descriptor();
    descriptor.verbs.erase(Verb::ports);
    co_return Response::json(200, to_json(descriptor));
  });
}

void BoxGateway::add_route(http::Method method, std::string pattern, http::Handler handler) {
  routes_.add({.method = method,
               .pattern = std::move(pattern),
               .permission = http::Permission::use_sandboxes,
               .body = http::BodyMode::buffered,
               .handler = std::move(handler)});
}

void BoxGateway::add_state_routes() {
  using http::Request;
  using http::Response;
  add_route(http::Method::post, "/v1/sandboxes/{id}/pause",
            [this](Request& request) -> Task<Response> {
              const std::string id = request.param("id");
              co_await provider->pause("box-" + id, Keeps::memory);
              paused_.insert(id);
              co_return Response::json(200, document_of(id));
            });
  add_route(http::Method::post, "/v1/sandboxes/{id}/resume",
            [this](Request& request) -> Task<Response> {
              const std::string id = request.param("id");
              co_await provider->resume("box-" + id);
              paused_.erase(id);
              co_return Response::json(200, document_of(id));
            });
}

void BoxGateway::add_snapshot_routes() {
  using http::Request;
  using http::Response;
  add_route(http::Method::post, "/v1/sandboxes/{id}/snapshots",
            [this](Request& request) -> Task<Response> {
              const std::string name = request.json()["name"], id = SnapshotId::make().value;
              co_await provider->snapshot("box-" + request.param("id"), id, Keeps::disk, true);
              snapshots_[id] = {{"id", id}, {"name", name}, {"kept", "disk"}, {"size_bytes", 1}};
              co_return Response::json(201, snapshots_[id]);
            });
  add_route(http::Method::get, "/v1/snapshots", [this](Request&) -> Task<Response> {
    Json items = Json::array();
    for (const auto& [id, snapshot] : snapshots_) items.push_back(snapshot);
    co_return Response::json(200, {{"items", items}, {"next_cursor", nullptr}});
  });
  add_route(http::Method::delete_, "/v1/snapshots/{id}",
            [this](Request& request) -> Task<Response> {
              snapshots_.erase(request.param("id"));
              co_await provider->remove_snapshot(request.param("id"));
              co_return Response::empty(204);
            });
}

}  // namespace sandgate::test
