#pragma once
#include <atomic>
#include <boost/asio/thread_pool.hpp>

#include "gateway/core/crypto.hpp"
#include "gateway/sandboxes/activity.hpp"
#include "gateway/sandboxes/cached_access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/reaper.hpp"
#include "gateway/sandboxes/upkeep/reconciler.hpp"
#include "registry/deployment_store.hpp"
#include "tests/sandboxes/no_spend_guard.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/fake_provider.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {

// A reaper whose steps are over when all that they began at backends is.
class WholeSteps {
 public:
  WholeSteps(Lifecycle& lifecycle, Reaper::Options options)
      : reaper_(std::make_shared<Reaper>(lifecycle, std::move(options))) {}

  Task<size_t> expire() { return whole(reaper_, &Reaper::expire); }
  Task<size_t> end_idle() { return whole(reaper_, &Reaper::end_idle); }
  Task<size_t> pause_due() { return whole(reaper_, &Reaper::pause_due); }
  Task<size_t> finish_pausing() { return whole(reaper_, &Reaper::finish_pausing); }
  Task<size_t> recover_pausing() { return whole(reaper_, &Reaper::recover_pausing); }
  Task<size_t> recover_snapshots() { return whole(reaper_, &Reaper::recover_snapshots); }
  Task<size_t> clean_snapshots() { return whole(reaper_, &Reaper::clean_snapshots); }
  Task<size_t> abandon() { return whole(reaper_, &Reaper::abandon); }
  Task<size_t> finish() { return whole(reaper_, &Reaper::finish); }
  Task<size_t> resolve_unknown() { return whole(reaper_, &Reaper::resolve_unknown); }
  Task<size_t> close_shadows() { return whole(reaper_, &Reaper::close_shadows); }

 private:
  static Task<size_t> whole(std::shared_ptr<Reaper> reaper, Task<size_t> (Reaper::*step)()) {
    const size_t taken = co_await (reaper.get()->*step)();
    co_await reaper->drain();
    co_return taken;
  }

  std::shared_ptr<Reaper> reaper_;
};

// The database's clock as gateways know it, which need not be this machine's.
struct OtherClock : Clock {
  Time now() const override { return SystemClock().now() + ahead.load(); }
  std::atomic<std::chrono::seconds> ahead{};
};

// Everything one gateway replica needs for sandboxes, on a database and backends it shares.
struct Replica {
  Replica(const std::string& url, DeploymentSet fixed,
          std::chrono::milliseconds patience = Database::Options().patience)
      : database({.url = url, .connections = 4, .patience = patience}),
        store(database, cipher),
        deployments(
            store, [](const DeploymentRow&) { return nullptr; }, std::move(fixed)),
        lifecycle(parts(spend)) {
    run(deployments.reload());
    run(lifecycle.parts().installation->read(database));
  }
  ~Replica() {
    while (database.in_flight() > 0) std::this_thread::yield();
    pool.join();
  }

  Lifecycle::Parts parts(SpendGuard& guard) {
    return {.database = database,
            .deployments = deployments,
            .board = board,
            .prices = prices,
            .meter = meter,
            .spend = guard,
            .cache = cache,
            .clock = clock,
            .cipher = cipher,
            .executor = pool.get_executor()};
  }
  WholeSteps reaper(std::chrono::milliseconds ahead = {}) {
    return WholeSteps(lifecycle, {.ahead = ahead, .activity = activity});
  }

  Database database;
  Cipher cipher{Secret(std::string(32, 'k'))};
  DeploymentStore store;
  Deployments deployments;
  OtherClock clock;
  HealthBoard board{clock};
  PriceBooks prices{database};
  Meter meter{prices};
  NoSpendGuard spend;
  SandboxCache cache{database};
  std::shared_ptr<Activity> activity = std::make_shared<Activity>(database);
  asio::thread_pool pool{1};  // a loop, as gateways have
  Lifecycle lifecycle;
};

// Runs the tasks that `make` returns all at once; the codes of those that failed.
inline std::vector<ErrorCode> at_once(int count, const std::function<Task<void>()>& make) {
  // Never taken apart: a result is there before the last of what made it has let go of the pool.
  static auto& pool = *new asio::thread_pool(4);
  std::vector<std::future<void>> all;
  for (int i = 0; i < count; ++i)
    all.push_back(asio::co_spawn(asio::make_strand(pool), make, asio::use_future));
  std::vector<ErrorCode> codes;
  for (auto& one : all) {
    try {
      one.get();
    } catch (const Error& error) {
      codes.push_back(error.code);
    }
  }
  return codes;
}

// A database with one tenant, two backends "a" (tried first) and "b", and one replica. `machine`:
// of ours, which both stand on.
struct World {
  explicit World(const std::string& machine = "")
      : tenant(add_tenant()), replica(database.url(), fixed(machine)) {}

  CreateOrder order(const std::function<void(Profile&)>& change = {}) const {
    CreateOrder order{.tenant = tenant, .profile = "python", .profile_version = 3};
    Profile& profile = order.request.profile;
    profile.name = "python";
    profile.placement.strategy = Strategy::priority;
    profile.placement.order = {"a", "b"};
    if (change) change(profile);
    return order;
  }
  SandboxRecord create(const std::function<void(Profile&)>& change = {}) {
    return run(replica.lifecycle.create(order(change)));
  }
  SandboxRecord row(const SandboxId& id) {
    auto read = [id](pqxx::work& tx) { return sandbox_rows::find(tx, id).value(); };
    return run(database->run(std::move(read)));
  }
  std::string sql(const std::string& query) {
    auto read = [query](pqxx::work& tx) {
      const auto rows = tx.exec(query);
      return rows.empty() || rows[0][0].is_null() ? std::string() : rows[0][0].as<std::string>();
    };
    return run(database->run(std::move(read)));
  }
  bool metered(const SandboxId& id) {
    return sql("SELECT state FROM metered_sandbox WHERE sandbox = '" + id.value + "'") == "running";
  }
  // Whether it was charged for to the microsecond that it says it ended at.
  bool charged_to_its_end(const SandboxId& id) {
    return sql("SELECT s.ended_at = m.boundary AND s.ended_at = (SELECT max(interval_end) FROM"
               " usage_event WHERE sandbox = s.id) FROM sandbox s JOIN metered_sandbox m"
               " ON m.sandbox = s.id WHERE m.state = 'closed' AND s.id = '" +
               id.value + "'") == "t";
  }
  // Whether that is when its backend says that it ended, as near as two clocks can be compared.
  bool ended_as_its_backend_says(const SandboxRecord& box) {
    const auto gone = run(a->find(box.backend_id));
    const Time::duration off = row(box.id).ended_at.value() - gone->counted->sampled_at;
    return std::chrono::abs(off) < std::chrono::milliseconds(20);
  }
  DeploymentSet fixed(const std::string& machine = "") const {
    return {std::make_shared<const Deployment>(make("a", a, machine)),
            std::make_shared<const Deployment>(make("b", b, machine))};
  }

  TestDatabase database;
  std::shared_ptr<FakeProvider> a = std::make_shared<FakeProvider>("a");
  std::shared_ptr<FakeProvider> b = std::make_shared<FakeProvider>("b");
  TenantId tenant;
  Replica replica;

 private:
  static Deployment make(const std::string& name, std::shared_ptr<FakeProvider> fake,
                         const std::string& machine) {
    Descriptor descriptor = fake->descriptor();
    descriptor.machine = machine;
    descriptor.reports_final_usage = !machine.empty();
    fake->offer(descriptor);
    return {.name = name, .provider = name, .backend = fake, .descriptor = descriptor};
  }
  TenantId add_tenant() {
    const TenantId id = TenantId::make();
    sql("INSERT INTO tenant (id, name) VALUES ('" + id.value + "', 'test') RETURNING id");
    return id;
  }
};

}  // namespace sandgate::test
