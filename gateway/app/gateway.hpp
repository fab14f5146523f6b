#pragma once
#include <signal.h>

#include "gateway/app/api.hpp"
#include "gateway/app/listeners.hpp"

namespace sandgate {

// The gateway: its parts, each standing on those before it. All have the same shape: a constructor
// that is told what it needs, and as far as there is something to do subscribe(), start() for what
// runs by itself, render() for its metrics.
class Gateway {
 public:
  explicit Gateway(const Config& config);

  // Listens, waits for the database, migrates, loads what is cached, and works until SIGTERM or
  // SIGINT; SIGHUP reads certificates, cached tables and what the supervisor renewed again. Call
  // before any other thread exists: it blocks the signals. Ends the process with exit code 0 when
  // told to stop.
  [[noreturn]] void run();

 private:
  bool prepare(const sigset_t& signals);
  bool prepare_once();
  void subscribe();
  void start_background_work();
  void start();
  void reload();
  void take_settings();
  void render(MetricText& out) const;

  Foundation foundation_;  // settings, threads, the database, the way to vendors
  Registry registry_;  // tenants, their keys, profiles and secrets
  Accounting accounting_;  // prices, the meter, budgets, invoices, exports
  Backends backends_;  // this machine's and the vendors', and how they do
  Sandboxes sandboxes_;  // their life, whoever ends it
  Events events_;  // what happened, for streams and webhooks
  Callers callers_;  // who they are, and whether they may come now
  Api api_;  // everything that has a route
  Listeners listeners_;  // the addresses, and the gates before the API
};

}  // namespace sandgate
