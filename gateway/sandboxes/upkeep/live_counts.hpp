#pragma once
#include <map>
#include <mutex>
#include <string>

#include "gateway/core/metric_text.hpp"
#include "gateway/placement/deployment_metrics.hpp"
#include "gateway/placement/deployments.hpp"

namespace sandgate {

// How many sandboxes live on each deployment, of all gateways of the database, as counted last.
// Thread-safe.
class LiveCounts {
 public:
  LiveCounts(Database& database, const Deployments& deployments)
      : database_(database), deployments_(deployments) {}

  // Counts: one query, which reads the rows of living sandboxes only. Keeps the last counts when it
  // throws Error(unavailable).
  Task<void> refresh();
  void render(MetricText& out) const;

 private:
  Database& database_;
  const Deployments& deployments_;
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;  // by labels
};

}  // namespace sandgate
