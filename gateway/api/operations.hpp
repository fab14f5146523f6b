#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "gateway/core/metric_text.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// What the operations routes report.
struct OperationsSources {
  std::string version;
  // Whether the database answers and accepts writes (a standby does not). Must return within about
  // a second.
  std::function<Task<bool>()> database_answers;
  std::function<Task<bool>()> has_deployment;  // whether any deployment is enabled
  std::function<void(MetricText&)> metrics;  // writes all metrics
};

// /healthz, /readyz, /metrics, /version, /openapi.json and the dashboard at /. Open to everyone, so
// no answer may contain tenants' data, and however many ask, the database is asked once at a time.
class OperationsHandlers {
 public:
  explicit OperationsHandlers(OperationsSources sources);
  void add_routes(http::Routes& routes);

  const std::string& document() const { return openapi_; }  // what /openapi.json answers

  Task<http::Response> health(http::Request& request);
  Task<http::Response> ready(http::Request& request);
  Task<http::Response> metrics(http::Request& request);
  Task<http::Response> version(http::Request& request);
  Task<http::Response> openapi(http::Request& request);
  Task<http::Response> dashboard(http::Request& request);

 private:
  const OperationsSources sources_;
  RefreshingCache<bool> database_answers_;  // keeps nothing: callers share a question under way
  const std::string openapi_;
  const std::string policy_;  // of the dashboard
};

// The dashboard's page, embedded at build time.
std::string_view embedded_dashboard();

}  // namespace sandgate::api
