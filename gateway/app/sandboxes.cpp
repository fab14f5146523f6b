#include "gateway/app/sandboxes.hpp"

#include "gateway/app/background.hpp"
#include "gateway/app/machine_name.hpp"
#include "gateway/core/log.hpp"
#include "gateway/sandboxes/rows/snapshot_rows.hpp"
#include "gateway/sandboxes/upkeep/history.hpp"

namespace sandgate {
namespace {

constexpr int kForgottenAtOnce = 500;
// For a machine that was lost to come back and remove its files.
constexpr std::chrono::hours kLostSnapshotsWait{30 * 24};

}  // namespace

Sandboxes::Sandboxes(Foundation& below, Accounting& money, Backends& backends)
    : foundation(below),
      accounting(money),
      spend(money.budgets, below.clock),
      cache(below.database),
      activity(std::make_shared<Activity>(below.database)),
      outage({.path = below.config.outage_journal()}),
      installation(std::make_shared<Installation>()),
      lifecycle({.database = below.database,
                 .deployments = backends.deployments,
                 .board = backends.health,
                 .prices = money.prices,
                 .meter = money.meter,
                 .spend = spend,
                 .cache = cache,
                 .clock = below.clock,
                 .cipher = below.cipher,
                 .executor = below.executor(),
                 .outage = &outage,
                 .price_required = below.config.billing.price_required(),
                 .installation = installation}),
      sampler(lifecycle, {}),
      budget_enforcer(money.budgets, lifecycle,
                      [this](TenantId tenant, SandboxId id) -> Task<void> {
                        co_await pausing.pause(std::move(tenant), std::move(id), Keeps::disk);
                      }),
      reaper(lifecycle, {.end_is_known =
                             [this](const SandboxId& id) {
                               return outage.has(id) || reconciler.has_unrecorded_death(id);
                             },
                         .machine = below.machine,
                         .activity = activity}),
      reconciler(lifecycle, {}),
      earlier_ends(reconciler, {.has_machine = below.config.local.enabled}),
      machines(lifecycle, {.own = below.config.local.enabled ? below.machine : "",
                           .place = place_of(below.config.home)}),
      secret_reconciler(below.database, backends.deployments, below.cipher),
      pausing(lifecycle),
      access(lifecycle, activity),
      counts(below.database, backends.deployments),
      ports(below.database, below.notifications) {}

Task<void> Sandboxes::replay_outage() {
  if (outage.is_pending()) co_await outage.replay(lifecycle);
}

Task<void> Sandboxes::note_known_ends() {
  co_await replay_outage();
  co_await earlier_ends.note();
}

void Sandboxes::subscribe() {
  accounting.meter.set_before_flush([this] { return note_known_ends(); });
  accounting.meter.set_excluded([this] { return outage.kept(); });
  foundation.notifications.subscribe(
      SandboxCache::kChannel, [this](const std::string& change) { cache.on_notification(change); });
  // An open connection would keep the network of an ended sandbox alive.
  foundation.notifications.subscribe("sandboxes", [this](const std::string& id) {
    if (SandboxId::parse(id)) app_pool.drop(id);
  });
  foundation.notifications.subscribe(Activity::kFlushChannel, [this](const std::string& id) {
    if (const auto asked = SandboxId::parse(id))
      spawn_detached(foundation.executor(), [known = activity, id = *asked]() -> Task<void> {
        std::vector<SandboxId> ids{id};
        auto telling = known->flush_now(std::move(ids));
        co_await attempt(std::move(telling));  // else flush() writes it
      });
  });
  // A lowered budget takes effect at once instead of at the next check.
  foundation.notifications.subscribe(kBudgetsChannel, [this](const std::string&) {
    spawn_detached(foundation.executor(),
                   [this]() -> Task<void> { co_await attempt(budget_enforcer.begin()); });
  });
}

void Sandboxes::start() {
  const auto run = [this](std::string name, std::function<Task<void>()> loop) {
    keep_running(foundation.executor(), std::move(name), std::move(loop));
  };
  run("sandbox cache", [this] { return cache.run(); });
  run("activity", [this] { return activity->run(); });
  run("reaper", [this]() -> Task<void> {
    co_await reconciler.note_earlier_deaths();
    co_await reaper.run();
  });
  run("reconciler", [this] { return reconciler.run(); });
  run("port connections", [this] { return app_pool.run(); });
  start_upkeep();
  start_purging();
}

// Periodic upkeep.
void Sandboxes::start_upkeep() {
  using std::chrono::seconds;
  repeat(foundation.executor(), "outage", seconds(1), [this] { return replay_outage(); });
  repeat(foundation.executor(), "deaths", seconds(1), [this] { return reconciler.note_deaths(); });
  repeat(foundation.executor(), "counters", seconds(10), [this]() -> Task<void> {
    sampler.begin();
    co_return;
  });
  repeat(foundation.executor(), "live counts", seconds(15), [this] { return counts.refresh(); });
  repeat(foundation.executor(), "machines", seconds(15),
         [this]() -> Task<void> { co_await machines.step(); });
  repeat(foundation.executor(), "secrets", seconds(1), [this] { return secret_reconciler.step(); });
  repeat(foundation.executor(), "budgets", seconds(15),
         [this]() -> Task<void> { co_await budget_enforcer.begin(); });
}

// Periodic deletion of old data.
void Sandboxes::start_purging() {
  repeat(foundation.executor(), "ports", std::chrono::seconds(600),
         [this] { return ports.purge(); });
  repeat_until_none(foundation.executor(), "lost snapshots", std::chrono::hours(1), [this] {
    return foundation.database.run([](pqxx::work& tx) {
      return snapshot_rows::forget_lost(tx, kLostSnapshotsWait, kForgottenAtOnce);
    });
  });
  const std::chrono::hours age(24 * foundation.config.history.retention_days);
  if (age.count() <= 0) return;
  repeat_until_none(foundation.executor(), "old sandboxes", std::chrono::hours(1), [this, age] {
    return foundation.database.run(
        [age](pqxx::work& tx) { return sandbox_rows::forget_ended(tx, age, kForgottenAtOnce); });
  });
}

void Sandboxes::stop() {
  try {
    foundation.wait(activity->flush(/*all=*/true));
  } catch (const Error& error) {
    log::warn("last use of sandboxes not written", {{"reason", error.what()}});
  }
}

void Sandboxes::render(MetricText& out) const {
  counts.render(out);
  out.counter("sandgate_sandbox_cache_hits_total", "Sandboxes found in memory.", cache.hits());
  out.counter("sandgate_sandbox_cache_misses_total", "Sandboxes read from the database.",
              cache.misses());
  out.gauge("sandgate_port_connections_waiting", "Idle connections kept to servers in sandboxes.",
            app_pool.waiting());
  out.counter("sandgate_creates_without_price_total", "Creates on a backend without a price.",
              lifecycle.unpriced().creates());
  out.counter("sandgate_losses_total", "Sandboxes whose cost, or a part of it, nobody pays.",
              lifecycle.parts().losses->booked());
  out.gauge("sandgate_outage_journal_records",
            "Records of ends that wait for the database: that one is asked for, that it is done.",
            outage.records());
  out.gauge("sandgate_outage_journal_bytes", "The size of what waits.", outage.bytes());
  out.gauge("sandgate_outage_journal_damaged",
            "Stretches of the journal that could not be read at the start.", outage.damaged());
  out.counter("sandgate_outage_journal_replayed_total", "Ends written after an outage.",
              outage.replayed());
}

}  // namespace sandgate
