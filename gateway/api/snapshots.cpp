#include "gateway/api/snapshots.hpp"

#include "gateway/api/page.hpp"
#include "gateway/api/path_id.hpp"
#include "gateway/api/pausing.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kMaxCopies = 100;

SnapshotId snapshot_id_of(const http::Request& request) {
  return path_id<SnapshotId>(request, "snapshot");
}

Json copy_json(const Outcome<SandboxRecord>& copy, const std::string& request_id) {
  if (const auto* record = std::get_if<SandboxRecord>(&copy))
    return {{"sandbox", to_json(*record)}};
  const Error& error = std::get<Error>(copy);
  return {{"error", http::problem_document(error, http::status_of(error.code), request_id)}};
}

// The outage that kept all copies from being created, if any. Returned as an error status, so that
// clients that retry on 5xx do retry.
std::optional<Error> outage_of_all(const std::vector<Outcome<SandboxRecord>>& copies) {
  std::optional<Error> outage;
  for (const auto& copy : copies) {
    const Error* error = std::get_if<Error>(&copy);
    if (!error) return std::nullopt;
    if (!outage && http::status_of(error->code) >= 500) outage = *error;
  }
  return outage;
}

}  // namespace

void SnapshotHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  const auto add = [&](Method method, const char* pattern, Permission permission, auto handler,
                       const char* location_prefix = "") {
    const bool creates = method == Method::post;
    routes.add({.method = method,
                .pattern = pattern,
                .permission = permission,
                .body = creates ? http::BodyMode::buffered : http::BodyMode::none,
                .handler = std::bind_front(handler, this),
                .idempotent_create = creates,
                .resumable = creates,
                .location_prefix = location_prefix});
  };
  const auto use = Permission::use_sandboxes, read = Permission::read_sandboxes;
  add(Method::post, "/v1/sandboxes/{id}/snapshots", use, &SnapshotHandlers::create,
      "/v1/snapshots/");
  add(Method::post, "/v1/sandboxes/{id}/fork", use, &SnapshotHandlers::fork);
  add(Method::get, "/v1/snapshots", read, &SnapshotHandlers::list);
  add(Method::get, "/v1/snapshots/{id}", read, &SnapshotHandlers::get);
  add(Method::delete_, "/v1/snapshots/{id}", use, &SnapshotHandlers::remove);
}

Task<http::Response> SnapshotHandlers::create(http::Request& request) {
  http::require_not_suspended(request.caller);
  const SandboxId sandbox = sandbox_id_of(request);
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  std::string name = reader.text("name", kGivenName).value_or("");
  const Keeps wish = read_keeps(reader);
  reader.finish_or_throw();
  const auto earlier = co_await snapshots_.recover(request.tenant(), request.earlier);
  if (earlier) co_return http::Response::json(201, to_json(*earlier));
  const auto made =
      co_await snapshots_.take(request.tenant(), sandbox, std::move(name), wish, request.claim);
  co_return http::Response::json(201, to_json(made));
}

Task<http::Response> SnapshotHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2);
  snapshot_rows::Page wanted{
      .tenant = request.tenant(), .after = page.created_after(), .rows = page.rows_to_fetch()};
  const auto snapshots = co_await snapshots_.list(std::move(wanted));
  const auto render = [](const SnapshotRecord& one) { return to_json(one); };
  co_return http::Response::json(200,
                                 page_json(page, snapshots, render, creation_key<SnapshotRecord>));
}

Task<http::Response> SnapshotHandlers::get(http::Request& request) {
  const auto found = co_await snapshots_.find(request.tenant(), snapshot_id_of(request));
  co_return http::Response::json(200, to_json(found));
}

Task<http::Response> SnapshotHandlers::remove(http::Request& request) {
  co_await snapshots_.remove(request.tenant(), snapshot_id_of(request));
  co_return http::Response::empty(204);
}

Task<CreateOrder> SnapshotHandlers::order_like(SandboxRecord source, std::string request_id) {
  auto read = [id = source.id](pqxx::work& tx) { return sandbox_rows::overrides_of(tx, id); };
  Json overrides = co_await lifecycle_.parts().database.run(std::move(read));
  const auto profile = co_await profiles_.version(source.profile_id, source.profile_version);
  CreateOrder order{.tenant = source.tenant,
                    .profile = source.profile,
                    .profile_version = source.profile_version,
                    .profile_id = source.profile_id,
                    .request = merge(*profile, overrides),
                    .request_id = std::move(request_id),
                    .overrides = std::move(overrides)};
  order.request.profile.resources = source.resources;
  order.request.metadata = source.metadata;
  co_return order;
}

// The copies that an earlier run of this request created, if any. The client may know of those, so
// the missing ones are not created now.
Task<Json> SnapshotHandlers::copies_of_earlier(const http::Request& request, size_t count) {
  Json items = Json::array();
  if (request.earlier.empty()) co_return items;
  const auto copies = co_await snapshots_.recover_copies(request.tenant(), request.earlier);
  const Error unmade(ErrorCode::unavailable,
                     "the first request with this Idempotency-Key ended without this copy");
  for (size_t i = 0; i < count && !copies.empty(); ++i) {
    const auto made = copies.find(i);
    const auto copy = made == copies.end() ? Outcome<SandboxRecord>(unmade) : made->second;
    items.push_back(copy_json(copy, request.id));
  }
  co_return items;
}

Task<http::Response> SnapshotHandlers::fork(http::Request& request) {
  http::require_not_suspended(request.caller);
  const SandboxId id = sandbox_id_of(request);
  const Json body = request.json();
  DocumentReader reader(body);
  reader.require("count");
  const auto count = reader.integer("count", 1, kMaxCopies);
  reader.finish_or_throw();
  Json items = co_await copies_of_earlier(request, static_cast<size_t>(*count));
  if (!items.empty()) co_return http::Response::json(201, {{"items", std::move(items)}});
  const SandboxRecord source = co_await snapshots_.source(request.tenant(), id);
  CreateOrder order = co_await order_like(source, request.id);
  order.key = request.caller.key_id;
  order.claim = request.claim;
  const auto copies =
      co_await snapshots_.fork(source, std::move(order), static_cast<size_t>(*count));
  const auto outage = outage_of_all(copies);
  if (outage) throw *outage;
  for (const auto& copy : copies) items.push_back(copy_json(copy, request.id));
  co_return http::Response::json(201, {{"items", std::move(items)}});
}

}  // namespace sandgate::api
