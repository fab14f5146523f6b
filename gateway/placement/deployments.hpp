#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/bell.hpp"
#include "gateway/core/database.hpp"
#include "gateway/placement/deployment.hpp"
#include "registry/deployment_store.hpp"

namespace sandgate {

// The live set of deployments: rows of the store made into Providers, and those that it was given.
// A deployment keeps its Provider over a reload unless what that is made of changed: its kind, its
// settings (placement's own aside) or its credentials. One that has not told yet what it offers is
// made anew with any change.
class Deployments {
 public:
  // Makes the backend of a row; throws Error when its settings do not make sense, which leaves out
  // that deployment and no other.
  using Factory = std::function<std::shared_ptr<Provider>(const DeploymentRow&)>;

  // `fixed` are not in the store (the local provider); they win over a row of the same name.
  Deployments(DeploymentStore& store, Factory factory, DeploymentSet fixed);

  std::shared_ptr<const DeploymentSet> snapshot() const;
  // What a tenant means by a name; null when there is none.
  DeploymentPtr find(const TenantId& tenant, std::string_view name) const;

  // Called with one whose row was changed, when its new Provider is in use. Set before use.
  void on_change(std::function<void(const DeploymentKey&)> callback);

  Task<void> reload();
  // Waits until run() has loaded the store as it is now and the backend of `key`, if it is there
  // and enabled, was asked what it offers; two seconds at most. Thread-safe.
  Task<void> take_up(DeploymentKey key);
  // Waits until run() has loaded the store as it is now; two seconds at most. Thread-safe.
  Task<void> catch_up();
  // Takes new copies of the descriptors; cheap, no I/O.
  void refresh();
  // Tells run() that the store changed; thread-safe: for Notifications ('deployments').
  void poke();
  // Reloads when poked and every 30 s, refreshes descriptors every second, and sleeps otherwise;
  // until cancelled.
  Task<void> run();

 private:
  Task<void> reload_as_poked();
  Task<void> reloaded(std::chrono::steady_clock::time_point until);
  // A row as it was loaded last. Its digest tells what its backend is made of.
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
  std::function<void(const DeploymentKey&)> callback_;
  DeploymentSet fixed_;
  mutable std::mutex mutex_;  // guards the two pointers only
  std::shared_ptr<const DeploymentSet> set_;
  std::weak_ptr<Bell> bell_;  // of run(), while it runs
  std::map<std::string, std::weak_ptr<Account>> accounts_;  // by digest; reload() only
  std::map<DeploymentKey, Loaded> rows_;  // reload() only
  std::atomic<bool> poked_{true};
  // Reloads are numbered: which one began last, and which ended well last.
  std::atomic<uint64_t> begun_{0}, loaded_{0};
};

}  // namespace sandgate
