#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// When each sandbox was last used through this replica, kept in memory and written to its row
// every so often: after a rest of at least `flush_lag` at once, so that a row whose idle timeout is
// over has heard of all use before that. Thread-safe.
class Activity : public std::enable_shared_from_this<Activity> {
 public:
  explicit Activity(Database& database) : database_(database) {}

  // Active now, and for as long as the handle lives. Sandboxes without idle timeout need none.
  std::shared_ptr<void> use(const SandboxId& id, std::chrono::seconds idle_timeout);
  // Open handles of this replica.
  size_t open_count(const SandboxId& id) const;

  // Whether one is open through this replica, or was used through it that short a time ago.
  bool used_within(const SandboxId& id, std::chrono::milliseconds past) const;

  // What is asked before a sandbox is paused for idleness: everybody writes at once when it was
  // used last. Logs what fails.
  Task<void> tell(std::vector<SandboxId> ids);
  // The channel on which replicas ask each other; the payload is an id.
  static constexpr char kAsked[] = "idle_sandboxes";

  // Writes what is due (everything when `all`).
  Task<void> flush(bool all = false);
  Task<void> run();  // flush every quarter of a second until cancelled

  // A quarter of the idle timeout, at most 5 s: use is not written more often.
  static std::chrono::milliseconds flush_lag(std::chrono::seconds idle_timeout);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Use {
    size_t open = 0;
    Instant last_used{}, written{};
    std::chrono::seconds idle_timeout{0};
  };
  struct Due {
    std::string id;
    int64_t age_ms;
  };

  void release(const std::string& id);
  // What its row does not say yet, taken as written.
  static std::optional<Due> take(const std::string& id, Use& use, Instant now);
  std::vector<Due> take_due(bool all);
  Task<void> write(std::vector<Due> due);

  Database& database_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Use> uses_;
};

}  // namespace sandgate
