#pragma once
#include <map>
#include <memory>
#include <mutex>
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

 private:
  struct Look;
  Task<void> carry_out(std::shared_ptr<Look> look, SandboxId id);

  SandboxCache& cache_;
  const asio::any_io_executor executor_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Look>> looks_;  // by sandbox; not begun yet
};

}  // namespace sandgate
