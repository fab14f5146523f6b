#include "gateway/api/operations.hpp"

#include "gateway/api/openapi_document.hpp"
#include "gateway/core/crypto.hpp"

namespace sandgate::api {
namespace {

// The dashboard's style is inline, and it connects to its own origin only. Of scripts only its own
// runs, known by its hash.
std::string dashboard_policy() {
  constexpr std::string_view kBegin = "<script>", kEnd = "</script>";
  const std::string_view page = embedded_dashboard();
  const size_t begin = page.find(kBegin) + kBegin.size();
  const std::string script(page.substr(begin, page.find(kEnd, begin) - begin));
  return "default-src 'none'; script-src 'sha256-" + base64_encode(*from_hex(sha256_hex(script))) +
         "'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'";
}

RefreshingCache<bool>::Load asking(std::function<Task<bool>()> ask) {
  return [ask = std::move(ask)](std::string) -> Task<std::optional<bool>> {
    co_return co_await ask();
  };
}

}  // namespace

OperationsHandlers::OperationsHandlers(OperationsSources sources)
    : sources_(std::move(sources)),
      database_answers_({.capacity = 1,
                         .soft = std::chrono::milliseconds(0),
                         .hard = std::chrono::milliseconds(0),
                         .outage = std::chrono::milliseconds(0),
                         .pause_after_failure = std::chrono::milliseconds(0)},
                        asking(sources_.database_answers)),
      openapi_(openapi_json(std::string(embedded_openapi()))),
      policy_(dashboard_policy()) {}

void OperationsHandlers::add_routes(http::Routes& routes) {
  const auto add = [&](std::string pattern, auto answer) {
    routes.add({.method = http::Method::get,
                .pattern = std::move(pattern),
                .permission = http::Permission::open,
                .handler = std::bind_front(answer, this)});
  };
  add("/healthz", &OperationsHandlers::health);
  add("/readyz", &OperationsHandlers::ready);
  add("/metrics", &OperationsHandlers::metrics);
  add("/version", &OperationsHandlers::version);
  add("/openapi.json", &OperationsHandlers::openapi);
  add("/", &OperationsHandlers::dashboard);
}

Task<http::Response> OperationsHandlers::health(http::Request&) {
  co_return http::Response::json(200, {{"status", "ok"}});
}

Task<http::Response> OperationsHandlers::ready(http::Request&) {
  auto looking = database_answers_.get("");
  const auto database = co_await attempt(std::move(looking));
  const auto deployment = co_await attempt(sources_.has_deployment());
  const auto* answers = std::get_if<0>(&database);
  const bool has_database = answers && **answers;
  const auto* has = std::get_if<bool>(&deployment);
  const bool has_deployment = has && *has;
  const bool ready = has_database && has_deployment;
  auto response =
      http::Response::json(ready ? 200 : 503, {{"status", ready ? "ready" : "not ready"},
                                               {"database", has_database},
                                               {"deployments", has_deployment}});
  response.is_expected = !ready;
  co_return response;
}

Task<http::Response> OperationsHandlers::metrics(http::Request&) {
  MetricText text;
  sources_.metrics(text);
  http::Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = text.str();
  co_return response;
}

Task<http::Response> OperationsHandlers::version(http::Request&) {
  co_return http::Response::json(
      200, {{"name", "sandgate"}, {"version", sources_.version}, {"api", "v1"}});
}

Task<http::Response> OperationsHandlers::openapi(http::Request&) {
  http::Response response;
  response.body = openapi_;
  co_return response;
}

Task<http::Response> OperationsHandlers::dashboard(http::Request&) {
  http::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Content-Security-Policy", policy_},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}};
  response.body = std::string(embedded_dashboard());
  co_return response;
}

}  // namespace sandgate::api
