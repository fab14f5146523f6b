#include "gateway/app/gateway.hpp"

#include <cstdlib>

#include "billing/prices/shipped_prices.hpp"
#include "gateway/app/open_files.hpp"
#include "gateway/app/settings_descriptor.hpp"
#include "gateway/core/database_sessions.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/supervisor/child.hpp"

namespace sandgate {
namespace {

// Pauses between attempts to reach the database, which may still be starting beside us.
constexpr std::chrono::milliseconds kFirstPause{50}, kLongestPause{1000};
constexpr std::chrono::seconds kComplaintPause{30};

sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return set;
}

Config fitted(Config config) {
  fit_connections(config);
  return config;
}

}  // namespace

Gateway::Gateway(const Config& config)
    : signals_(block_signals()),
      foundation_(fitted(config)),
      registry_(foundation_),
      accounting_(foundation_),
      backends_(foundation_),
      sandboxes_(foundation_, accounting_, backends_),
      events_(foundation_),
      middleware_(foundation_, registry_),
      api_(foundation_, registry_, accounting_, backends_, sandboxes_, events_, middleware_,
           {.subrequest = [this](http::Request& request) { return listeners_.subrequest(request); },
            .metrics = [this](MetricText& out) { render(out); }}),
      listeners_(foundation_, registry_, sandboxes_, middleware_, api_) {}

// Nobody else has the database of one gateway, and that need not wait after each boot.
bool Gateway::claim_machine() {
  if (foundation_.config.database.url.empty()) return true;
  if (foundation_.wait(sandboxes_.machines.claim())) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_complaint_) return false;
  next_complaint_ = now + kComplaintPause;
  log::warn(
      "another gateway gives signs under the name of this machine: if this home is a copy of its, "
      "remove the file here and start again; otherwise wait",
      {{"machine", foundation_.machine}, {"file", foundation_.config.machine_file()}});
  return false;
}

// Prepares the database and loads what the parts need from it. False: it does not answer.
bool Gateway::prepare_once() {
  Database& database = foundation_.database;
  try {
    foundation_.wait(require_own_sessions(database));
    for (const std::string& name : foundation_.wait(migrate(database, shipped_migrations())))
      log::info("migrated", {{"step", name}});
    foundation_.wait(foundation_.claim_database());
    if (!claim_machine()) return false;
    foundation_.wait(seed_prices(database));
    foundation_.wait(accounting_.prices.load());
    foundation_.wait(sandboxes_.installation->read(database));
    // A create must not find deployments missing that were only not loaded yet.
    foundation_.wait(backends_.deployments.reload());
    foundation_.wait(foundation_.anchor_clock());
    foundation_.wait(sandboxes_.replay_outage());
    return true;
  } catch (const Error& error) {
    if (error.code != ErrorCode::unavailable) throw;
    return false;
  }
}

// Retries without limit: a gateway that gave up would be missing when the database returns. Returns
// false if told to stop meanwhile.
bool Gateway::prepare() {
  for (auto pause = kFirstPause; !prepare_once(); pause = std::min(pause * 2, kLongestPause)) {
    const timespec limit{pause.count() / 1000, pause.count() % 1000 * 1'000'000};
    const int number = sigtimedwait(&signals_, nullptr, &limit);
    if (number == SIGTERM || number == SIGINT) return false;
    if (number == SIGHUP) reload();
  }
  return true;
}

void Gateway::subscribe() {
  accounting_.subscribe();
  backends_.subscribe();
  sandboxes_.subscribe();
  events_.subscribe();
  foundation_.notifications.start();
}

void Gateway::start_background_work() {
  foundation_.start();
  accounting_.start();
  backends_.start();
  sandboxes_.start();
  events_.start();
  middleware_.start();
  api_.start();
}

void Gateway::start() {
  backends_.await_local();
  subscribe();
  // A failure to listen must end the start before any request is served.
  listeners_.listen_for_data_planes();
  start_background_work();
  listeners_.open();
  log::info("serving");
}

// Applies the settings renewed by the supervisor that can change without a restart.
void Gateway::apply_settings() {
  const auto fresh = renewed_config();
  if (!fresh) return;
  Config& config = foundation_.config;
  config.limits = fresh->limits;
  fit_connections(config);
  config.log = fresh->log;
  configure_log(config);
  middleware_.apply_limits();
  listeners_.apply_limits();
}

void Gateway::reload() {
  log::info("reloading");
  try {
    apply_settings();
  } catch (const Error& error) {
    log::error("settings kept as they were", {{"reason", error.what()}});
  }
  listeners_.reload();
  backends_.deployments.wake();
  accounting_.reload();
}

void Gateway::render(MetricText& out) const {
  listeners_.render(out);
  backends_.render(out);
  sandboxes_.render(out);
  accounting_.render(out);
  events_.render(out);
}

void Gateway::run() {
  bool told_to_stop = false;
  try {
    foundation_.io.start();
    listeners_.listen();
    told_to_stop = !prepare();
    if (!told_to_stop) start();
  } catch (const Error& error) {
    // No orderly teardown here, as at the end of this function.
    report_start_failure(error.what());
    std::_Exit(kCannotStart);
  }
  int number = 0;
  while (!told_to_stop && sigwait(&signals_, &number) == 0 && number == SIGHUP) reload();
  log::info("stopping");
  // Another worker may wait for it: one whose server was killed ends while the next one starts.
  sandboxes_.outage.release();
  events_.notifier.close();
  listeners_.stop();
  sandboxes_.stop();
  // Only suspended coroutines are left. Destroying them one by one could hang, and everything that
  // must survive is already in PostgreSQL.
  std::_Exit(0);
}

}  // namespace sandgate
