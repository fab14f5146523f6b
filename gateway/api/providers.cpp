#include "gateway/api/providers.hpp"

#include "billing/prices/rating.hpp"
#include "gateway/api/ordering.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/placement/gateway_descriptor.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate::api {
namespace {

Json health_json(const Health& health) {
  return {{"breaker", to_string(health.breaker)},
          {"resting", health.resting},
          {"failure_rate", health.failure_rate}};
}

// The price per hour: the charge for a tenant, the vendor's cost for an operator.
std::optional<Money> price_for(const std::optional<TenantId>& tenant, const Deployment& one,
                               const Resources& size, const PriceSnapshot& prices, Time now) {
  const std::string region = one.region();
  const std::string_view payer = tenant ? std::string_view(tenant->value) : "";
  const PriceScope scope = price_scope_of(one, payer, region);
  return tenant ? charge_per_hour(prices, scope, size, now)
                : prices.cost_per_hour(scope, size, now);
}

Json provider_json(const Deployment& one, const Health& health, const Resources& size,
                   const std::optional<Money>& price) {
  Json latency;
  if (const auto whole = health.whole_latency_ms()) latency = *whole;
  return {{"deployment", one.name},
          {"provider", one.provider},
          {"owner", one.tenant ? "tenant" : "operator"},
          {"enabled", one.enabled},
          {"descriptor", to_json(one.descriptor)},
          {"health", health_json(health)},
          {"latency_p50_ms", std::move(latency)},
          {"price_per_hour", price ? Json(price->amount.to_string()) : Json()},
          {"currency", price ? Json(price->currency) : Json()},
          {"price_is_for", to_json(size)}};
}

}  // namespace

void ProviderHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::get,
              .pattern = "/v1/providers",
              .permission = http::Permission::read_sandboxes,
              .handler = [this](http::Request& request) { return list(request); }});
  routes.add({.method = http::Method::get,
              .pattern = "/v1/descriptor",
              .permission = http::Permission::read_sandboxes,
              .handler = [this](http::Request& request) { return descriptor(request); }});
}

Task<http::Response> ProviderHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2);
  const LifecycleParts& parts = lifecycle_.parts();
  const auto set = parts.deployments.snapshot();
  const auto prices = parts.prices.snapshot();
  const Time now = parts.clock.now();
  std::vector<DeploymentPtr> visible;
  for (const DeploymentPtr& one : *set)
    if (!one->tenant || one->tenant == request.caller.tenant) visible.push_back(one);
  const Resources asked;  // the same for all, so that prices are comparable
  const auto render = [&](const DeploymentPtr& one) {
    const Resources size = one->granted(asked);
    const auto price = price_for(request.caller.tenant, *one, size, *prices, now);
    return provider_json(*one, parts.board.health_of(one->key()), size, price);
  };
  // A tenant's deployment may have the name of a shared one.
  const auto key = [](const DeploymentPtr& one) {
    return std::vector{one->name, one->tenant ? one->tenant->value : std::string()};
  };
  co_return http::Response::json(200, page_of_all(page, std::move(visible), render, key));
}

Task<http::Response> ProviderHandlers::descriptor(http::Request& request) {
  auto profile = request.query.find("profile");
  if (!profile) throw Error::invalid("/profile", "is required");
  if (!profile_reference_from(*profile))
    throw Error::invalid("/profile", "must be a name, name@version or name@channel");
  const CreateOrder order =
      co_await order_from(request, Json::object(), std::move(*profile), profiles_);
  const Decision decision = lifecycle_.explain(order);
  std::vector<Descriptor> able;
  for (const Candidate& candidate : decision.candidates)
    // A deployment that was never reached has unknown capabilities.
    if ((candidate.eligible() || candidate.only_now) && candidate.deployment->descriptor.known)
      able.push_back(candidate.deployment->descriptor);
  if (able.empty()) throw nothing_eligible(decision);
  co_return http::Response::json(200, to_json(gateway_descriptor(order.request.profile, able)));
}

}  // namespace sandgate::api
