#include "gateway/compat/e2b/templates.hpp"

#include "gateway/compat/e2b/create_request.hpp"
#include "gateway/compat/e2b/sandbox_address.hpp"
#include "gateway/compat/e2b/sandbox_list.hpp"
#include "gateway/compat/e2b/sandbox_view.hpp"
#include "gateway/core/document_reader.hpp"

namespace sandgate::compat::e2b {
namespace {

Json template_json(const Json& snapshot) {
  Json names = Json::array();
  if (const Json name = snapshot.value("name", Json()); name.is_string()) names.push_back(name);
  return {{"snapshotID", snapshot.at("id")}, {"names", std::move(names)}};
}

// The body of the v1 call. Null is a body without members.
Json snapshot_request_from(const Json& body) {
  if (body.is_null()) return Json::object();
  DocumentReader reader(body);
  Json request = Json::object();
  if (const Json* name = reader.any("name")) request["name"] = *name;
  const auto memory = reader.boolean("memory");
  if (memory) request["keep"] = *memory ? "memory" : "disk";
  reader.finish_or_throw();
  return request;
}

Json document_of(const http::Response& answer) {
  return Json::parse(std::get<std::string>(answer.body));
}

// Clients take only 404 for a sandbox that is gone.
Error as_of_clients(const Error& error, const std::string& sandbox) {
  if (!error.details.contains("state")) return error;
  const auto state = sandbox_state_from(error.details["state"].get<std::string>());
  return state && !is_shown(*state) ? Error::not_found("sandbox", sandbox) : error;
}

}  // namespace

Task<http::Response> Templates::create(http::Request& request) {
  drop_client_id(request);
  http::Request inner = request;
  inner.body = snapshot_request_from(request.json_or_empty()).dump();
  auto making = snapshots_.create(inner);
  const auto outcome = co_await attempt(std::move(making));
  if (const auto* error = std::get_if<Error>(&outcome))
    throw as_of_clients(*error, request.param("id"));
  const http::Response& made = std::get<http::Response>(outcome);
  co_return http::Response::json(201, template_json(document_of(made)));
}

// Filters each page of our own list, so a page may be shorter than its limit.
Task<http::Response> Templates::list(http::Request& request) {
  const auto sandbox = request.query.find("sandboxID"), name = request.query.find("name");
  http::Request inner = request;
  inner.query = page_query_of(request.query);
  const http::Response listed = co_await snapshots_.list(inner);
  const Json page = document_of(listed), next = page.at("next_cursor");
  Json shown = Json::array();
  for (const Json& one : page.at("items"))
    if ((!sandbox || one.at("sandbox") == *sandbox) && (!name || one.value("name", "") == *name))
      shown.push_back(template_json(one));
  http::Response answer = http::Response::json(200, shown);
  if (next.is_string()) answer.headers.emplace_back("X-Next-Token", next.get<std::string>());
  co_return answer;
}

Task<http::Response> Templates::remove(http::Request& request) {
  return snapshots_.remove(request);
}

Task<http::Response> Templates::find_alias(http::Request& request) {
  const std::string& alias = request.param("alias");
  auto resolving = profiles_.resolve(request.tenant(), profile_reference(alias), "");
  auto outcome = co_await attempt(std::move(resolving));
  if (auto* error = std::get_if<Error>(&outcome)) {
    // No template can have a name that is no reference.
    if (error->code == ErrorCode::invalid) throw Error::not_found("template", alias);
    throw *error;
  }
  const bool shared = !std::get<ResolvedProfile>(outcome).owner;
  co_return http::Response::json(200, {{"templateID", alias}, {"public", shared}});
}

void Templates::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  const auto add = [&](Method method, const char* pattern, Permission permission, auto answer) {
    const bool creates = method == Method::post;
    routes.add({.method = method,
                .pattern = pattern,
                .permission = permission,
                .body = creates ? http::BodyMode::buffered : http::BodyMode::none,
                .handler = std::bind_front(answer, this),
                .idempotent_create = creates,
                .resumable = creates});
  };
  const auto use = Permission::use_sandboxes, read = Permission::read_sandboxes;
  add(Method::post, "/e2b/sandboxes/{id}/snapshots", use, &Templates::create);
  add(Method::get, "/e2b/snapshots", read, &Templates::list);
  add(Method::delete_, "/e2b/templates/{id}", use, &Templates::remove);
  add(Method::get, "/e2b/templates/aliases/{alias}", read, &Templates::find_alias);
}

}  // namespace sandgate::compat::e2b
