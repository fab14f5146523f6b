#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "billing/partitions.hpp"
#include "billing/shipped_prices.hpp"
#include "gateway/app/background.hpp"
#include "gateway/app/gateway.hpp"
#include "gateway/app/settings_descriptor.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/events/outbox.hpp"
#include "gateway/sandboxes/history.hpp"
#include "gateway/supervisor/process_supervisor.hpp"

namespace sandgate {
namespace {

// How soon a database that does not answer is asked again: one of our own starts beside us.
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{1000};
constexpr std::chrono::milliseconds kNodeStart{2000};
// How soon an event is in the log while streams wait for it, and otherwise.
constexpr std::chrono::milliseconds kEventsAwaited{40}, kEventsQuiet{250};
constexpr int64_t kForgotAtOnce = 5000;
constexpr int kSandboxesAtOnce = 500;
constexpr std::chrono::milliseconds kClockDoubt{100};
const http::Routes kNothingEarly;

sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

void write_listen_file(const std::string& path, const std::string& address, uint16_t port) {
  const std::string fresh = path + ".new";
  std::ofstream(fresh) << address << ":" << port << "\n";
  std::rename(fresh.c_str(), path.c_str());
}

}  // namespace

template <class T>
T Gateway::wait(Task<T> task) {
  return asio::co_spawn(io_.executor(), std::move(task), asio::use_future).get();
}

// The first creates find what this machine offers; a node that is away is said to be by them.
void Gateway::ask_node() {
  const auto limit = std::chrono::steady_clock::now() + kNodeStart;
  while (local_ && std::chrono::steady_clock::now() < limit) {
    auto asking = attempt_within(kNodeStart, local_->refresh());
    if (!std::holds_alternative<Error>(wait(std::move(asking)))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

// What the database must have and what we must know of it. False: it does not answer.
bool Gateway::prepare_once() {
  try {
    for (const std::string& name : wait(migrate(database_, shipped_migrations())))
      log::info("migrated", {{"step", name}});
    wait(seed_prices(database_));
    wait(prices_.load());
    wait(lifecycle_.parts().installation->read(database_));
    wait(anchor_clock());
    wait(settle_outage());
    return true;
  } catch (const Error& error) {
    if (error.code != ErrorCode::unavailable) throw;
    return false;
  }
}

// However long it takes: a gateway that gave up would not be there when the database is back.
// False: told to stop meanwhile.
bool Gateway::prepare(const sigset_t& signals) {
  for (auto pause = kFirstPause; !prepare_once(); pause = std::min(pause * 2, kLongestPause)) {
    const timespec limit{pause.count() / 1000, pause.count() % 1000 * 1'000'000};
    const int number = sigtimedwait(&signals, nullptr, &limit);
    if (number == SIGTERM || number == SIGINT) return false;
    if (number == SIGHUP) reload();
  }
  return true;
}

void Gateway::subscribe() {
  health_.on_change([this](const DeploymentKey& deployment, const Verdict& verdict) {
    spawn_detached(io_.executor(), [this, deployment, verdict]() -> Task<void> {
      co_await breakers_.tell(deployment, verdict);
    });
    if (verdict.turned) tell_breaker(deployment, verdict.breaker);
  });
  // What failed with other credentials or settings says nothing of these.
  deployments_.on_change([this](const DeploymentKey& deployment) { health_.returned(deployment); });
  breakers_.subscribe(notifications_, io_.executor());
  notifications_.subscribe("sandboxes",
                           [this](const std::string& id) { sandbox_cache_.on_notification(id); });
  // A connection to a sandbox that ended would keep its network.
  notifications_.subscribe("sandboxes", [this](const std::string& id) {
    if (SandboxId::parse(id)) app_pool_.drop(id);
  });
  notifications_.subscribe(kDeploymentsChannel,
                           [this](const std::string&) { deployments_.poke(); });
  notifications_.subscribe(kEventsChannel, [this](const std::string& payload) {
    event_bell_.ring(payload);
    webhook_sender_.poke();
  });
  // A lowered budget holds from now on, not from the next round.
  notifications_.subscribe(kBudgetsChannel, [this](const std::string&) {
    spawn_detached(io_.executor(),
                   [this]() -> Task<void> { co_await attempt(budget_enforcer_.begin()); });
  });
  notifications_.subscribe("prices", [this](const std::string&) {
    spawn_detached(io_.executor(), [this]() -> Task<void> { co_await attempt(prices_.load()); });
  });
}

// Each replica judges deployments by what it saw, and tells of its own breakers.
void Gateway::tell_breaker(const DeploymentKey& deployment, Breaker breaker) {
  const std::string type = breaker == Breaker::open ? "deployment.opened" : "deployment.closed";
  auto work = [this, deployment, type]() -> Task<void> {
    const Json data{{"deployment", deployment.name}};
    auto tell = [=](pqxx::work& tx) {
      tell_event(tx, deployment.tenant, type, "deployments/" + deployment.name, data);
    };
    const auto outcome = co_await attempt(database_.run(std::move(tell)));
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("an event was not written", {{"type", type}, {"reason", error->what()}});
  };
  spawn_detached(io_.executor(), std::move(work));
}

void Gateway::start_events() {
  keep_running(io_.executor(), "event log", [this]() -> Task<void> {
    // Polled, because a notification in the transactions that write events would make their
    // commits wait for each other.
    for (;;) {
      co_await event_log_.collect_all();
      co_await sleep_for(event_bell_.listeners() > 0 ? kEventsAwaited : kEventsQuiet);
    }
  });
  keep_running(io_.executor(), "webhooks", [this] { return webhook_sender_.run(); });
  repeat_until_none(io_.executor(), "old events", std::chrono::minutes(10), [this] {
    return event_log_.forget(std::chrono::hours(24 * config_.events.retention_days), kForgotAtOnce);
  });
}

Task<void> Gateway::anchor_clock() {
  const auto asked = std::chrono::steady_clock::now();
  const auto micros = co_await database_.run([](pqxx::work& tx) {
    return tx.exec1("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")[0]
        .as<int64_t>();
  });
  const auto answered = std::chrono::steady_clock::now();
  // An answer that took long says little about when it was true.
  if (clock_.anchored() && answered - asked > kClockDoubt) co_return;
  clock_.anchor(from_micros(micros), asked + (answered - asked) / 2);
}

// Before anything else is booked: what ended in an outage ended then.
Task<void> Gateway::settle_outage() {
  if (outage_.is_pending()) co_await outage_.replay(lifecycle_);
}

void Gateway::start_background_work() {
  using std::chrono::seconds;
  meter_.set_prelude([this] { return settle_outage(); });
  repeat(io_.executor(), "outage", seconds(1), [this] { return settle_outage(); });
  repeat(io_.executor(), "clock", seconds(10), [this] { return anchor_clock(); });
  repeat(io_.executor(), "counters", seconds(10), [this]() -> Task<void> {
    sampler_.begin();
    co_return;
  });
  if (local_)
    keep_running(io_.executor(), "local descriptor", [this] { return local_->keep_fresh(); });
  keep_running(io_.executor(), "deployments", [this] { return deployments_.run(); });
  keep_running(io_.executor(), "sandbox cache", [this] { return sandbox_cache_.run(); });
  keep_running(io_.executor(), "activity", [this] { return activity_->run(); });
  keep_running(io_.executor(), "reaper", [this] { return reaper_.run(); });
  keep_running(io_.executor(), "reconciler", [this] { return reconciler_.run(); });
  start_events();
  keep_running(io_.executor(), "port connections", [this] { return app_pool_.run(); });
  repeat(io_.executor(), "mcp sessions", seconds(30), [this] { return mcp_sessions_.sweep(); });
  repeat(io_.executor(), "ports", seconds(600), [this] { return ports_.purge(); });
  repeat(io_.executor(), "metering", seconds(10),
         [this]() -> Task<void> { co_await meter_.flush(database_); });
  repeat(io_.executor(), "secrets", seconds(1), [this] { return secret_keeper_.step(); });
  repeat(io_.executor(), "budgets", seconds(15),
         [this]() -> Task<void> { co_await budget_enforcer_.begin(); });
  repeat(io_.executor(), "exports", seconds(5), [this]() -> Task<void> {
    // A backlog is sent batch after batch; a receiver that fails is not due at once.
    for (size_t sent = 1; sent > 0;) sent = co_await exports_.run_once();
  });
  repeat(io_.executor(), "partitions", std::chrono::hours(6),
         [this]() -> Task<void> { co_await create_usage_partitions(database_); });
  repeat(io_.executor(), "prices", seconds(60), [this] { return prices_.load(); });
  start_forgetting();
}

// What is kept for a time only.
void Gateway::start_forgetting() {
  using std::chrono::seconds;
  repeat_until_none(io_.executor(), "idempotency keys", seconds(600),
                    [this] { return idempotency_.purge(); });
  if (config_.history.retention_days > 0)
    repeat_until_none(io_.executor(), "old sandboxes", std::chrono::hours(1), [this] {
      const std::chrono::hours age(24 * config_.history.retention_days);
      return database_.run(
          [age](pqxx::work& tx) { return sandbox_rows::forget_ended(tx, age, kSandboxesAtOnce); });
    });
}

void Gateway::reload() {
  log::info("reloading");
  try {
    if (!config_.tls.certificate.empty()) server_->reload_tls();
    if (!config_.tls.certificate.empty() && e2b_server_) e2b_server_->reload_tls();
  } catch (const Error& error) {
    log::error("certificates kept as they were", {{"reason", error.what()}});
  }
  deployments_.poke();
  spawn_detached(io_.executor(), [this]() -> Task<void> { co_await attempt(prices_.load()); });
}

void Gateway::listen() {
  io_.start();
  add_routes();
  metrics_ = std::make_unique<http::HttpMetrics>(routes_);
  dispatcher_ = std::make_unique<http::Dispatcher>(
      routes_,
      http::Dispatcher::Services{authenticator_, &admission_, &idempotency_, metrics_.get(),
                                 static_cast<size_t>(config_.limits.body_bytes), &body_room_});
  port_gate_ = std::make_unique<ports::PortGate>(*dispatcher_, access_, ports_, app_pool_, clock_,
                                                 tenant_directory_, gate_settings());
  start_gate_ = std::make_unique<StartGate>(routes_, *dispatcher_, *port_gate_);
  e2b_gate_ = std::make_unique<StartGate>(kNothingEarly, e2b_.data(), e2b_.data());
  door_ = e2b_.door(*start_gate_, *e2b_gate_, /*data_listener=*/false);
  server_ = std::make_unique<http::Server>(io_, *door_, server_options());
  server_->start();
  log::info("listening", {{"address", config_.listen_address}, {"port", server_->port()}});
}

void Gateway::listen_for_e2b() {
  if (config_.e2b.listen_address.empty()) return;
  http::ServerOptions options = server_options();
  options.address = config_.e2b.listen_address;
  options.port = config_.e2b.listen_port;
  e2b_door_ = e2b_.door(*start_gate_, *e2b_gate_, /*data_listener=*/true);
  e2b_server_ = std::make_unique<http::Server>(io_, *e2b_door_, std::move(options));
  e2b_server_->start();
  write_listen_file(config_.e2b_listen_file(), config_.e2b.listen_address, e2b_server_->port());
}

void Gateway::start() {
  ask_node();
  subscribe();
  notifications_.start();
  listen_for_e2b();  // what cannot be listened on ends the start before anybody is served
  start_background_work();
  start_gate_->open();
  e2b_gate_->open();
  write_listen_file(config_.listen_file(), config_.listen_address, server_->port());
  log::info("serving");
}

void Gateway::run() {
  const sigset_t signals = block_signals();
  bool told_to_stop = false;
  try {
    listen();
    told_to_stop = !prepare(signals);
    if (!told_to_stop) start();
  } catch (const Error& error) {
    // What has begun by now is not taken apart, as at the end.
    tell_why_not_started(error.what());
    std::_Exit(ProcessSupervisor::kCannotStart);
  }
  int number = 0;
  while (!told_to_stop && sigwait(&signals, &number) == 0 && number == SIGHUP) reload();
  log::info("stopping");
  event_bell_.close();
  {
    // Both at once: they share the time that is given them.
    const std::jthread other([this] {
      if (e2b_server_) e2b_server_->stop();
    });
    server_->stop();
  }
  try {
    wait(activity_->flush(true));
  } catch (const Error& error) {
    log::warn("last use of sandboxes not written", {{"reason", error.what()}});
  }
  // What is left are coroutines parked on the loops. Taking them apart one by one would only add
  // ways to hang: everything that must survive is in PostgreSQL already.
  std::_Exit(0);
}

}  // namespace sandgate
