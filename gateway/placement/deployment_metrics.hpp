#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/placement/deployment_key.hpp"

namespace sandgate {

// The label of a deployment's metrics. The operator's have one each; all that tenants own share
// "(tenants)", so that there are no more series than the operator has deployments.
std::string deployment_label(const DeploymentKey& key);

// How the creates tried at deployments turned out, since the start. Thread-safe.
class CreateCounts {
 public:
  void count(const DeploymentKey& deployment, std::optional<ErrorCode> failure);  // empty: created
  // Forgets the operator's deployments for which `exists` is false.
  void forget_unless(const std::function<bool(const DeploymentKey&)>& exists);
  void render(MetricText& out) const;

 private:
  using Counts = std::map<std::string_view, uint64_t>;  // by outcome

  mutable std::mutex mutex_;
  std::map<std::string, Counts> counts_;  // by deployment, without tenants'
  Counts tenants_;
};

}  // namespace sandgate
