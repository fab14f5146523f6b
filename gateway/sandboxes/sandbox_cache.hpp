#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gateway/core/database.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

// A sandbox and its answer, rendered once.
struct CachedSandbox {
  SandboxRecord record;
  std::string body;
};
using CachedSandboxPtr = std::shared_ptr<const CachedSandbox>;

// Sandboxes by id in memory, so that GET and exec do not touch PostgreSQL. Holds settled states
// and, for a second, ids that do not exist. Coherent through NOTIFY on its channel and through
// `forget` by whoever changed a row here. A beat that run() sends through the same channel tells
// whether notifications still arrive; when none did for 900 ms the cache is bypassed, so that a
// stale answer lives under a second; only while the database does not answer may it be older.
// Thread-safe.
class SandboxCache {
 public:
  explicit SandboxCache(Database& database, size_t capacity = 100'000);

  // Null: no such sandbox.
  Task<CachedSandboxPtr> find(SandboxId id);
  // What was known of it last, also when it has changed since: for who has to end it although the
  // database does not answer. Null: never seen, or too long ago.
  CachedSandboxPtr last_seen(const SandboxId& id);
  // After a commit, by who made it: the row is to be read anew.
  void forget(const SandboxId& id);
  // The same of one that has ended for good.
  void drop(const SandboxId& id);
  // The same with what the row is now, as its transaction's last statement on it returned it;
  // `as_of` was taken before that began, so that a change by somebody else in between wins.
  struct Mark {
    uint64_t changes = 0;
  };
  Mark mark_of(const SandboxId& id);
  void remember(const SandboxRecord& record, Mark as_of);

  static constexpr const char* kChannel = "sandbox_rows";  // for Notifications::subscribe
  void on_notification(const std::string& payload);
  // Sends the beat until cancelled.
  Task<void> run();

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Entry {
    CachedSandboxPtr value;  // null: does not exist
    std::chrono::steady_clock::time_point until;
    bool forgotten = false;  // changed since
    int64_t told = 0;  // of which revision it was notified last; 0: changed after that, as we know
    std::list<std::string>::iterator position;
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Entry> entries;
    std::list<std::string> recent;  // front: used last
    uint64_t changes = 0;  // a load that began before a change is not kept
  };

  Shard& shard_of(const SandboxId& id);
  bool listening() const;
  void clear();
  void on_change(const SandboxId& id, int64_t revision);
  // Empty: not known, or not to be trusted now.
  std::optional<CachedSandboxPtr> look(const SandboxId& id);
  // However old; null when not known. For when the database does not answer.
  CachedSandboxPtr last_known(const SandboxId& id);
  void put(const SandboxId& id, CachedSandboxPtr value, Mark as_of);

  static constexpr size_t kShards = 16;
  Database& database_;
  const size_t capacity_per_shard_;
  std::array<Shard, kShards> shards_;
  std::atomic<int64_t> heard_ns_{0};  // steady clock, of the last notification
  std::atomic<uint64_t> hits_{0}, misses_{0};
};

}  // namespace sandgate
