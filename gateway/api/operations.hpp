#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "gateway/core/metric_text.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// What the operations routes need to know; main fills it in.
struct OperationsSources {
  std::string version;
  // Also that it takes writes, as a standby does not. Must come back within about a second.
  std::function<Task<bool>()> database_answers;
  std::function<Task<bool>()> has_deployment;  // at least one that is enabled
  std::function<void(MetricText&)> metrics;  // writes all there are
};

// /healthz, /readyz, /metrics, /version, /openapi.json and the dashboard at /.
// Open to everyone, so none of them says anything about a tenant.
class OperationsHandlers {
 public:
  explicit OperationsHandlers(OperationsSources sources);
  void add_routes(http::Routes& routes);

  Task<http::Response> health(http::Request& request);
  Task<http::Response> ready(http::Request& request);
  Task<http::Response> metrics(http::Request& request);
  Task<http::Response> version(http::Request& request);
  Task<http::Response> openapi(http::Request& request);
  Task<http::Response> dashboard(http::Request& request);

 private:
  const OperationsSources sources_;
  const std::string openapi_;
};

// docs/openapi.yaml as JSON text. Plain scalars become numbers, booleans and null by YAML's core
// schema; quoted ones stay text. Throws Error(internal) when it is not YAML.
std::string yaml_to_json(const std::string& yaml);

// Embedded when the program is built.
std::string_view embedded_openapi();
std::string_view embedded_dashboard();

}  // namespace sandgate::api
