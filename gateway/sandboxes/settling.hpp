#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/sandboxes/sandbox_cache.hpp"

namespace sandgate {

// One look for all who wait, at the same time, until a sandbox is on its way no more: what a page
// asks of its port at once is one query at a time, not sixty. Thread-safe; must outlive its
// waiters.
class Settling {
 public:
  Settling(SandboxCache& cache, asio::any_io_executor executor)
      : cache_(cache), executor_(std::move(executor)) {}

  // The sandbox as it is a moment later; null: there is none. Throws what reading it threw.
  Task<CachedSandboxPtr> look_again(SandboxId id);

  // For as long as the handle lives, its row is being written by somebody here who is about to
  // pause it: who wants to use it had better wait for what that comes to.
  std::shared_ptr<void> hold(const SandboxId& id);
  // Returns once nobody holds it, or after 5 s.
  Task<void> until_let_go(SandboxId id);

 private:
  struct Look;
  Task<void> carry_out(std::shared_ptr<Look> look, SandboxId id);
  bool is_held(const SandboxId& id);

  SandboxCache& cache_;
  const asio::any_io_executor executor_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Look>> looks_;  // by sandbox; not begun yet
  std::multiset<std::string> held_;  // sandboxes
};

}  // namespace sandgate
