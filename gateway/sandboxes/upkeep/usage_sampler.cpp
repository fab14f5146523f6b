#include "gateway/sandboxes/upkeep/usage_sampler.hpp"

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kSampleTimeout{5};
constexpr size_t kSamplesAtOnce = 16;

}  // namespace

Task<std::vector<UsageSampler::Due>> UsageSampler::due_on(DeploymentPtr deployment) {
  auto work = [deployment, options = options_](pqxx::work& tx) {
    static const std::string kDue =
        "SELECT id, backend_id, m.counters_at = 'epoch' FROM sandbox s JOIN metered_sandbox m ON "
        "m.sandbox = s.id"
        " WHERE s.deployment = $1 AND s.ended_at IS NULL AND s.state = 'running'"
        " AND ($2 = '' OR s.tenant = $2) AND m.state = 'running' AND " +
        sandbox_rows::not_elsewhere("$5") +
        " AND m.counters_at <= now() - make_interval(secs => $3)"
        " AND m.opened_at <= now() - make_interval(secs => $3)"
        " ORDER BY m.counters_at LIMIT $4";
    std::vector<Due> due;
    for (const auto& row : run_prepared(
             tx, kDue, deployment->name, deployment->tenant ? deployment->tenant->value : "",
             options.min_age.count(), options.most, deployment->descriptor.machine))
      due.push_back(
          {SandboxId{row[0].as<std::string>()}, row[1].as<std::string>(), row[2].as<bool>()});
    return due;
  };
  co_return co_await parts_.database.run(std::move(work));
}

DeploymentSet UsageSampler::measured() const {
  DeploymentSet set = *parts_.deployments.snapshot();
  std::erase_if(set, [](const DeploymentPtr& one) { return !one->descriptor.can(Verb::metrics); });
  return set;
}

void UsageSampler::begin() {
  for (const DeploymentPtr& deployment : measured())
    work_queue_.post(KeyedWorkQueue::queue_key(*deployment), "sample/" + deployment->key().text(),
                     [this, deployment]() -> Task<void> { co_await sample_on(deployment); });
}

Task<size_t> UsageSampler::sample() {
  size_t taken = 0;
  const DeploymentSet set = measured();
  for (const DeploymentPtr& deployment : set) {
    const size_t count = co_await sample_on(deployment);
    taken += count;
  }
  co_return taken;
}

Task<size_t> UsageSampler::sample_on(DeploymentPtr deployment) {
  size_t taken = 0;
  auto due = co_await due_on(deployment);
  auto read = [this, deployment, &taken](Due one) -> Task<void> {
    auto reading = deployment->backend->metrics(one.backend_id);
    const auto outcome = co_await attempt_within(kSampleTimeout, std::move(reading));
    const auto* metrics = std::get_if<SandboxMetrics>(&outcome);
    if (!metrics) {
      // It is read at the next round; until then budgets keep the money for what it counts.
      const bool counts = std::get<Error>(outcome).code != ErrorCode::unsupported;
      auto miss = [this, id = one.id](pqxx::work& tx) { parts_.meter.miss(tx, id); };
      if (one.is_first && counts) co_await parts_.database.run(std::move(miss));
      co_return;
    }
    // It would be charged beyond the end that the outage journal has.
    if (parts_.outage && parts_.outage->has(one.id)) co_return;
    const Meter::Measured totals = measured_of(*metrics, parts_.clock.now());
    auto work = [this, id = one.id, totals](pqxx::work& tx) {
      parts_.meter.observe(tx, id, totals);
    };
    co_await parts_.database.run(std::move(work));
    ++taken;
  };
  co_await for_each_concurrent(std::move(due), kSamplesAtOnce, read);
  co_return taken;
}

}  // namespace sandgate
