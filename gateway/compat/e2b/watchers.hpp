#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/core/json_reader.hpp"
#include "gateway/sandboxes/access.hpp"
#include "providers/file_watch.hpp"

namespace sandgate::compat::e2b {

// Watches whose events wait to be asked for. They live in this gateway's memory: until they are
// removed, were not asked for in ten minutes, or their sandbox's backend ends them. Thread-safe.
class Watchers {
 public:
  static constexpr size_t kMaxPerSandbox = 16, kMaxEvents = 4096, kMaxBytes = 1 << 20;

  // Throws Error(quota_exceeded). `directory`: absolute, what names are relative to; `executor`: of
  // the loop that the watch was begun on; `permit` is held while it lasts. Waiting events do not
  // count as use of the sandbox.
  std::string add(asio::any_io_executor executor, OpenSandbox box, std::unique_ptr<FileWatch> watch,
                  std::string directory, std::shared_ptr<void> permit);
  // What came since the last time. Throws Error(not_found), and why the watch broke.
  std::vector<Json> take(const SandboxId& sandbox, const std::string& watcher);
  void remove(const SandboxId& sandbox, const std::string& watcher);  // throws Error(not_found)

 private:
  struct Watcher;
  using Shared = std::shared_ptr<Watcher>;

  Shared find(const SandboxId& sandbox, const std::string& watcher);
  Task<void> run(Shared watcher, std::string id);
  static Task<void> gather(Shared watcher);

  std::mutex mutex_;
  std::map<std::string, Shared> watchers_;
};

}  // namespace sandgate::compat::e2b
