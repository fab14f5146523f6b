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

// Last use of each sandbox through this replica, kept in memory and written to the sandbox's row at
// most once per `flush_lag`. The first use after a pause that long is written within a tick, so
// that a row past its idle timeout reflects all earlier use. Thread-safe.
class Activity : public std::enable_shared_from_this<Activity> {
 public:
  explicit Activity(Database& database) : database_(database) {}

  // Counts the sandbox as active while the handle lives. Null for sandboxes without idle timeout.
  std::shared_ptr<void> use(const SandboxId& id, std::chrono::seconds idle_timeout);

  // Whether a handle is open in this replica, or the last use here is less than `past` ago.
  bool used_within(const SandboxId& id, std::chrono::milliseconds past) const;

  // Writes the last use of these sandboxes at once, except rows that somebody has locked: those are
  // written by flush(). Every replica does so on request, before a sandbox is paused or ended for
  // idleness. Throws Error(unavailable) when the database did not take it.
  Task<void> flush_now(std::vector<SandboxId> ids);
  // NOTIFY channel of that request; the payload is a sandbox id.
  static constexpr char kFlushChannel[] = "idle_sandboxes";

  // Writes the uses that are due, or all unwritten ones. Logs failures and retries them later.
  Task<void> flush(bool all = false);
  Task<void> run();  // flushes every 250 ms until cancelled

  // Shortest time between two writes: a quarter of the idle timeout, between 250 ms and 5 s.
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
  // The use that the row lacks, marked as written; empty when there is none.
  static std::optional<Due> take(const std::string& id, Use& use, Instant now);
  std::vector<Due> take_due(bool all);
  // Throws when nothing was written; what was not is due again.
  Task<void> write(std::vector<Due> due);
  void mark_unwritten(const std::vector<std::string>& ids);

  Database& database_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Use> uses_;
};

}  // namespace sandgate
