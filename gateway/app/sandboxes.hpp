#pragma once
#include <memory>

#include "gateway/app/accounting.hpp"
#include "gateway/app/backends.hpp"
#include "gateway/ports/app_pool.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/sandboxes/budget_guard.hpp"
#include "gateway/sandboxes/cached_access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "gateway/sandboxes/upkeep/earlier_ends.hpp"
#include "gateway/sandboxes/upkeep/live_counts.hpp"
#include "gateway/sandboxes/upkeep/machine_monitor.hpp"
#include "gateway/sandboxes/upkeep/reaper.hpp"
#include "gateway/sandboxes/upkeep/reconciler.hpp"
#include "gateway/sandboxes/upkeep/secret_reconciler.hpp"
#include "gateway/sandboxes/upkeep/usage_sampler.hpp"

namespace sandgate {

// The sandbox part of the gateway: lifecycle, background upkeep, and access to running sandboxes.
struct Sandboxes {
  Sandboxes(Foundation& foundation, Accounting& accounting, Backends& backends);

  // Replays the ends recorded during a database outage.
  Task<void> replay_outage();
  // Writes down all ends that are known, so that usage is not booked beyond them.
  Task<void> note_known_ends();
  // Registers notification handlers and makes the meter note known ends before it books. Call
  // before notifications and the meter start.
  void subscribe();
  // Starts background work.
  void start();
  // Stores when sandboxes were last used; logs a failure. Blocks; call on the main thread.
  void stop();
  void render(MetricText& out) const;

  Foundation& foundation;
  Accounting& accounting;
  BudgetGuard spend;
  SandboxCache cache;
  std::shared_ptr<Activity> activity;
  OutageJournal outage;
  std::shared_ptr<Installation> installation;
  Lifecycle lifecycle;
  UsageSampler sampler;
  BudgetEnforcer budget_enforcer;
  Reaper reaper;
  Reconciler reconciler;
  EarlierEnds earlier_ends;
  MachineMonitor machines;
  SecretReconciler secret_reconciler;
  Pausing pausing;
  CachedAccess access;
  LiveCounts counts;
  ports::PortStore ports;
  ports::AppPool app_pool;

 private:
  void start_upkeep();
  void start_purging();
};

}  // namespace sandgate
