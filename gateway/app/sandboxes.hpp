#pragma once
#include <memory>

#include "gateway/app/accounting.hpp"
#include "gateway/app/backends.hpp"
#include "gateway/ports/app_pool.hpp"
#include "gateway/ports/port_store.hpp"
#include "gateway/sandboxes/budget_enforcer.hpp"
#include "gateway/sandboxes/budget_guard.hpp"
#include "gateway/sandboxes/cached_access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/reaper.hpp"
#include "gateway/sandboxes/reconciler.hpp"
#include "gateway/sandboxes/secret_keeper.hpp"
#include "gateway/sandboxes/usage_sampler.hpp"

namespace sandgate {

// The life of sandboxes, whoever ends it, and the ways to those that run.
struct Sandboxes {
  Sandboxes(Foundation& foundation, Accounting& accounting, Backends& backends);

  // Books what ended while the database was away, before anything else is booked.
  Task<void> settle_outage();
  // Says what notifications are for, and has outages settled before use is booked; before
  // notifications and the meter start.
  void subscribe();
  // Takes up what runs by itself.
  void start();
  // Writes down when sandboxes were last used; what fails is logged. Blocks: for the main thread.
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
  SecretKeeper secret_keeper;
  Pausing pausing;
  CachedAccess access;
  ports::PortStore ports;
  ports::AppPool app_pool;

 private:
  void start_keeping();
  void start_forgetting();
};

}  // namespace sandgate
