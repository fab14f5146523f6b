#pragma once
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

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
  static constexpr size_t kOutcomes = static_cast<size_t>(ErrorCode::timeout) + 2;

  mutable std::mutex mutex_;
  // By deployment, without tenants; the first outcome is a success, then come the codes.
  std::map<std::string, std::array<uint64_t, kOutcomes>> counts_;
  std::array<uint64_t, kOutcomes> tenants_{};
};

}  // namespace sandgate
