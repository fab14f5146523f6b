#include "gateway/api/deployments.hpp"

#include <algorithm>

#include <boost/algorithm/string/join.hpp>

#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/core/document_reader.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxSettingsBytes = 64 * 1024;
constexpr size_t kMaxCredentials = 32, kMaxCredentialBytes = 16 * 1024;
constexpr int64_t kMaxWeight = 10'000;

Json visible_json(const http::Caller& caller, const DeploymentRow& row) {
  Json body = to_json(row);
  if (caller.is_operator() || row.tenant) return body;
  body.erase("settings");
  body.erase("credential_names");
  return body;
}

std::optional<Credentials> read_credentials(ObjectReader& reader) {
  const auto texts =
      reader.text_map("credentials", kMaxCredentials, {.min = 1, .max = kMaxCredentialBytes});
  if (!texts) return std::nullopt;
  Credentials credentials;
  for (const auto& [name, value] : *texts) {
    if (!is_env_name(name))
      reader.member_problem("credentials", name,
                            "its name must match [A-Za-z_][A-Za-z0-9_]{0,127}");
    credentials.emplace(name, Secret(value));
  }
  return credentials;
}

Json read_settings(ObjectReader& reader) {
  const Json* settings = reader.object("settings");
  if (!settings) return Json::object();
  if (settings->dump().size() > kMaxSettingsBytes) reader.problem("settings", "is too large");
  return *settings;
}

}  // namespace

void DeploymentHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::read_sandboxes,
                    http::Permission::administer_tenant);
  named.add(Method::get, "/v1/deployments", &DeploymentHandlers::list);
  named.add(Method::put, "/v1/deployments/{name}", &DeploymentHandlers::put);
  named.add(Method::get, "/v1/deployments/{name}", &DeploymentHandlers::get);
  named.add(Method::delete_, "/v1/deployments/{name}", &DeploymentHandlers::remove);
}

Task<http::Response> DeploymentHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  auto reading = deployments_.list(request.caller.tenant, name_after(page), page.rows_to_fetch());
  const auto rows = co_await std::move(reading);
  const auto render = [&](const DeploymentRow& row) { return visible_json(request.caller, row); };
  co_return http::Response::json(200, page_by_name(page, rows, render));
}

DeploymentDraft DeploymentHandlers::draft_from(const http::Request& request) const {
  const Json body = request.json();
  DocumentReader reader(body);
  DeploymentDraft draft{.name = request.param("name"), .tenant = request.caller.tenant};
  if (!is_name(draft.name)) reader.problems().add("", kNameRule);
  reader.require("provider");
  draft.provider = reader.text("provider", {.min = 1, .max = 63}).value_or("");
  const auto& providers = rules_.providers;
  if (!draft.provider.empty() &&
      std::find(providers.begin(), providers.end(), draft.provider) == providers.end())
    reader.problem("provider", "is not a provider of this gateway; these are: " +
                                   boost::algorithm::join(providers, ", "));
  draft.settings = read_settings(reader);
  draft.credentials = read_credentials(reader);
  draft.enabled = reader.boolean("enabled").value_or(true);
  draft.weight = reader.integer("weight", 0, kMaxWeight).value_or(draft.weight);
  reader.finish_or_throw();
  return draft;
}

Task<http::Response> DeploymentHandlers::put(http::Request& request) {
  // By value, because the transaction may outlive a cancelled request.
  const auto check = [validate = rules_.validate](const DeploymentRow& row) {
    Problems problems;
    if (validate) validate(row, problems);
    problems.throw_if_any();
  };
  auto writing = deployments_.put(draft_from(request), check, actor_of(request));
  const DeploymentRow row = co_await std::move(writing);
  auto taking_up = take_up(request);
  co_await std::move(taking_up);
  co_return http::Response::json(200, visible_json(request.caller, row));
}

// The caller expects its next create to use the change.
Task<void> DeploymentHandlers::take_up(const http::Request& request) const {
  if (!rules_.take_up) co_return;
  DeploymentKey key{request.param("name"), request.caller.tenant};
  auto taking_up = rules_.take_up(std::move(key));
  co_await std::move(taking_up);
}

Task<http::Response> DeploymentHandlers::get(http::Request& request) {
  const std::string name = request.param("name");
  auto own = deployments_.find(request.caller.tenant, name);
  auto row = co_await std::move(own);
  if (!row && request.caller.tenant) {
    auto shared = deployments_.find(std::nullopt, name);
    row = co_await std::move(shared);
  }
  if (!row) throw Error::not_found("deployment", name);
  co_return http::Response::json(200, visible_json(request.caller, *row));
}

Task<http::Response> DeploymentHandlers::remove(http::Request& request) {
  const std::string name = request.param("name");
  auto removing = deployments_.remove(request.caller.tenant, name, actor_of(request));
  co_await std::move(removing);
  auto taking_up = take_up(request);
  co_await std::move(taking_up);
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
