#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/core/json_reader.hpp"
#include "gateway/http/body_memory_quota.hpp"
#include "gateway/sandboxes/access.hpp"
#include "providers/file_watch.hpp"

namespace sandgate::compat::e2b {

// File watches whose events clients poll. A watcher lives in this gateway's memory until it is
// removed or was not polled for ten minutes. Thread-safe.
class Watchers {
 public:
  static constexpr size_t kMaxPerSandbox = 16, kMaxEvents = 4096, kMaxBytes = 1 << 20;

  Watchers() : Watchers({.uncounted = 0, .total = 256u << 20, .per_tenant = 32u << 20}) {}
  // `room` bounds the memory of the events that were not polled yet.
  explicit Watchers(http::BodyMemoryQuota::Options room) : room_(room) {}

  // Returns the id of a new watcher. `directory` is absolute; names in events are relative to it.
  // `executor` is that of the loop that started the watch. `permit` is held until the watch
  // fails or the watcher is removed. Buffered events do not count as use of the sandbox. Throws
  // Error(quota_exceeded).
  std::string add(asio::any_io_executor executor, OpenSandbox box, std::unique_ptr<FileWatch> watch,
                  std::string directory, std::shared_ptr<void> permit);
  // Returns the events since the last call. Throws Error(not_found) for an unknown watcher, or,
  // once all events were returned, the failure of its watch.
  std::vector<Json> take(const SandboxId& sandbox, const std::string& watcher);
  void remove(const SandboxId& sandbox, const std::string& watcher);  // throws Error(not_found)

 private:
  struct Watcher;
  using Shared = std::shared_ptr<Watcher>;

  Shared find(const SandboxId& sandbox, const std::string& watcher);
  Task<void> run(Shared watcher, std::string id);
  static Task<void> gather(Shared watcher);

  http::BodyMemoryQuota room_;
  std::mutex mutex_;
  std::map<std::string, Shared> watchers_;
};

}  // namespace sandgate::compat::e2b
