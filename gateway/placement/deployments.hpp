#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/auto_reset_event.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployment.hpp"
#include "registry/deployment_store.hpp"

namespace sandgate {

// The live set of deployments: Providers made from the rows of the store, and fixed ones. A reload
// keeps a deployment's Provider unless its kind, its settings (except placement's own) or its
// credentials changed. A Provider whose capabilities are not known yet is replaced on any change of
// its row.
class Deployments {
 public:
  // Makes the backend of a row. An Error, for settings that make no sense, leaves out this
  // deployment only.
  using Factory = std::function<std::shared_ptr<Provider>(const DeploymentRow&)>;

  // `fixed` deployments (the local provider) have no row; they win over rows of the same name.
  Deployments(DeploymentStore& store, Factory factory, DeploymentSet fixed);

  std::shared_ptr<const DeploymentSet> snapshot() const;
  // As find_deployment() on the current set.
  DeploymentPtr find(const TenantId& tenant, std::string_view name) const;

  // Called after a changed row's deployment has been published. Set before use.
  void on_change(std::function<void(const DeploymentKey&)> callback);
  // Called after each reload with the new set. Set before use.
  void on_reload(std::function<void(const DeploymentSet&)> callback);

  Task<void> reload();
  // Waits, at most two seconds, until run() has loaded the store's present state and the backend of
  // `key`, if present and enabled, has been asked for its capabilities. Thread-safe.
  Task<void> wait_ready(DeploymentKey key);
  // Waits, at most two seconds, until run() has loaded the store's present state. Thread-safe.
  Task<void> catch_up();
  // Copies the backends' current descriptors into the set; no I/O.
  void refresh();
  // Wakes run() after a change of the store. Thread-safe: for Notifications ('deployments').
  void wake();
  // Reloads when woken and every 30 s, and refreshes descriptors every second; until cancelled.
  Task<void> run();

 private:
  Task<void> reload_if_woken();
  Task<void> wait_until_reloaded(std::chrono::steady_clock::time_point until);
  // A row as last loaded. The digest covers what its backend is made from.
  struct Loaded {
    int64_t version = 0;
    std::string digest;
    std::weak_ptr<Provider> backend;
  };
  DeploymentPtr make(const DeploymentRow& row, const Loaded* before);
  std::shared_ptr<Provider> backend_of(const DeploymentRow& row, const Loaded* before);
  std::shared_ptr<Account> account_of(const DeploymentRow& row);
  void publish(DeploymentSet set);

  DeploymentStore& store_;
  Factory factory_;
  std::function<void(const DeploymentKey&)> on_change_;
  std::function<void(const DeploymentSet&)> on_reload_;
  DeploymentSet fixed_;
  mutable std::mutex mutex_;  // guards set_ and wakeup_
  std::shared_ptr<const DeploymentSet> set_;
  std::weak_ptr<AutoResetEvent> wakeup_;  // of run(), while it runs
  std::map<std::string, std::weak_ptr<Account>> accounts_;  // by digest; reload() only
  std::map<DeploymentKey, Loaded> rows_;  // reload() only
  std::atomic<bool> wake_pending_{true};
  // Numbers of the last reload begun, and of the last one that succeeded.
  std::atomic<uint64_t> begun_{0}, loaded_{0};
};

}  // namespace sandgate
