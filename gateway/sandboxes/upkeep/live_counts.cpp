#include "gateway/sandboxes/upkeep/live_counts.hpp"

namespace sandgate {
namespace {

struct Counted {
  std::string deployment, state;
  uint64_t count;
};

std::vector<Counted> count_living(pqxx::work& tx) {
  std::vector<Counted> counted;
  for (const auto& row : tx.exec("SELECT deployment, state, count(*) FROM sandbox"
                                 " WHERE ended_at IS NULL AND deployment <> '' GROUP BY 1, 2"))
    counted.push_back({row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<uint64_t>()});
  return counted;
}

}  // namespace

Task<void> LiveCounts::refresh() {
  const auto counted = co_await database_.run(&count_living);
  const auto set = deployments_.snapshot();
  std::map<std::string, uint64_t> counts;
  for (const Counted& one : counted) {
    // No tenant's deployment has the name of one of the operator's.
    DeploymentKey key{one.deployment};
    if (!find_deployment(*set, key)) key.tenant = TenantId();
    counts[deployment_label(key) + ",state=\"" + one.state + "\""] += one.count;
  }
  std::lock_guard lock(mutex_);
  counts_ = std::move(counts);
}

void LiveCounts::render(MetricText& out) const {
  out.begin("sandgate_sandboxes", "gauge",
            "Living sandboxes of all gateways of the database, counted every 15 seconds.");
  std::lock_guard lock(mutex_);
  for (const auto& [labels, count] : counts_) out.sample("sandgate_sandboxes", labels, count);
}

}  // namespace sandgate
