#include <benchmark/benchmark.h>

#include "gateway/placement/decision.hpp"
#include "tests/support/fake_provider.hpp"

namespace sandgate {
namespace {

// Under 50 µs for 30 deployments.
void BM_Decision(benchmark::State& state) {
  const TenantId tenant = TenantId::make();
  std::vector<Candidate> candidates;
  for (int i = 0; i < 30; ++i) {
    auto backend = std::make_shared<test::FakeProvider>("p");
    Deployment one{.name = "d" + std::to_string(i),
                   .provider = "p",
                   .backend = backend,
                   .descriptor = backend->descriptor()};
    candidates.push_back({.deployment = std::make_shared<const Deployment>(std::move(one)),
                          .expected_price = Money{Decimal(100 - i), "USD"}});
  }
  EffectiveRequest request;
  request.profile.placement.strategy = static_cast<Strategy>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(decide(request, tenant, "p@1", "rq1", candidates));
}
BENCHMARK(BM_Decision)->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sandgate

BENCHMARK_MAIN();
