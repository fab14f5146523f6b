#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/sandboxes/sandbox_cache.hpp"

namespace sandgate {

// Waits for sandboxes in transition. Concurrent waiters for one sandbox share one read, so that
// many requests at once cost one query at a time. Thread-safe; must outlive its waiters.
class TransitionPoller {
 public:
  TransitionPoller(SandboxCache& cache, asio::any_io_executor executor);

  // The sandbox after 20 ms; null: there is none. Throws what reading it throws.
  Task<CachedSandboxPtr> poll(SandboxId id);

  // Marks the sandbox, while the handle lives, as about to be paused by this process. Use of the
  // sandbox waits for that in wait_until_unmarked(). The handle may outlive this object.
  std::shared_ptr<void> mark_pausing(const SandboxId& id);
  bool is_marked(const SandboxId& id);
  // Returns once no handle lives, or after 5 s.
  Task<void> wait_until_unmarked(SandboxId id);

 private:
  struct Poll;
  struct Marks;
  Task<void> carry_out(std::shared_ptr<Poll> poll, SandboxId id);

  SandboxCache& cache_;
  const asio::any_io_executor executor_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Poll>> polls_;  // by sandbox; not read yet
  const std::shared_ptr<Marks> marks_;
};

}  // namespace sandgate
