#pragma once
#include <signal.h>

#include <chrono>

#include "gateway/app/api.hpp"
#include "gateway/app/listeners.hpp"

namespace sandgate {

// The gateway process: its parts in order of dependency. All parts have the same shape: a
// constructor with their dependencies and, where needed, subscribe() for notifications, start() for
// background work and render() for metrics.
class Gateway {
 public:
  // Blocks the signals that run() waits for, and so has to be made before other threads exist.
  explicit Gateway(const Config& config);

  // Listens, waits for the database, migrates it, loads the caches and serves until SIGTERM or
  // SIGINT. SIGHUP reloads certificates, cached tables and the settings renewed by the supervisor.
  // Ends the process with exit code 0 after a stop, or kCannotStart if it cannot start.
  [[noreturn]] void run();

 private:
  bool prepare();
  bool prepare_once();
  bool claim_machine();
  void subscribe();
  void start_background_work();
  void start();
  void reload();
  void apply_settings();
  void render(MetricText& out) const;

  const sigset_t signals_;  // blocked in all threads: one that takes them would end the process
  Foundation foundation_;  // settings, threads, database, HTTP client for vendors
  Registry registry_;  // tenants, their keys, profiles and secrets
  Accounting accounting_;  // prices, the meter, budgets, invoices, exports
  Backends backends_;  // the local backend, vendors' deployments and their health
  Sandboxes sandboxes_;  // lifecycle, sampling, reaping, access
  Events events_;  // the event log, streams and webhooks
  Middleware middleware_;  // authentication, admission, idempotency
  Api api_;  // everything that has a route
  Listeners listeners_;  // listening addresses and what precedes the API
  std::chrono::steady_clock::time_point next_complaint_{};  // about this machine's name
};

}  // namespace sandgate
