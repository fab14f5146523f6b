#include "gateway/api/decisions.hpp"

#include "gateway/api/ordering.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/sandboxes/creating/shadowing.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate::api {
namespace {

// Rethrows problems of a part of the body with paths in the whole.
[[noreturn]] void throw_within(const std::string& part, const Error& error) {
  Problems problems;
  for (const FieldProblem& field : error.fields) problems.add(part + field.path, field.message);
  problems.throw_if_any();
  throw error;
}

}  // namespace

void DecisionHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::get,
              .pattern = "/v1/sandboxes/{id}/decision",
              .permission = http::Permission::read_sandboxes,
              .handler = [this](http::Request& request) { return get(request); }});
  routes.add({.method = http::Method::post,
              .pattern = "/v1/profiles/{name}/explain",
              .permission = http::Permission::read_sandboxes,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return explain(request); }});
}

Task<http::Response> DecisionHandlers::get(http::Request& request) {
  const SandboxId id = sandbox_id_of(request);
  co_await lifecycle_.get(request.tenant(), id);
  auto read = [id](pqxx::work& tx) {
    auto found = sandbox_rows::find_decision(tx, id);
    if (auto shadow = found ? find_shadow(tx, id) : std::nullopt)
      (*found)["shadow"] = std::move(*shadow);
    return found;
  };
  const auto document = co_await lifecycle_.parts().database.run(std::move(read));
  if (!document) throw Error::not_found("decision of sandbox", id.value);
  co_return http::Response::json(200, *document);
}

Task<CreateOrder> DecisionHandlers::order_of(http::Request& request, Json wanted) {
  std::string reference = request.param("name");
  // No profile can have such a name, and no member of the body is wrong.
  if (!profile_reference_from(reference)) throw Error::not_found("profile", reference);
  CreateOrder order =
      co_await order_from(request, std::move(wanted), std::move(reference), profiles_);
  co_await follow_snapshot(order, snapshots_);
  co_return order;
}

Task<http::Response> DecisionHandlers::explain(http::Request& request) {
  http::require_tenant(request.caller);
  const Json body = request.json_or_empty();
  DocumentReader reader(body);
  const Json* asked = reader.object("request");
  if (asked && !asked->value("profile", Json()).is_null())
    reader.problems().add("/request/profile", "is named by the address");
  reader.finish_or_throw();
  Json wanted = asked ? *asked : Json::object();
  auto reading = order_of(request, std::move(wanted));
  const auto order = co_await attempt(std::move(reading));
  if (const auto* error = std::get_if<Error>(&order)) throw_within("/request", *error);
  Decision decision = lifecycle_.explain(std::get<CreateOrder>(order));
  // explain() tries no backend; `chosen` is the one that a create would try first.
  if (const auto order_of_tries = planned(decision); !order_of_tries.empty())
    decision.chosen = order_of_tries.front();
  co_return http::Response::json(200, to_json(decision));
}

}  // namespace sandgate::api
