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
#include "gateway/sandboxes/rows/record.hpp"

namespace sandgate {

// A sandbox and its JSON response body.
struct CachedSandbox {
  SandboxRecord record;
  std::string body;
};
using CachedSandboxPtr = std::shared_ptr<const CachedSandbox>;

// Cache of sandboxes by id, so that GET and exec do not touch PostgreSQL. Holds settled states for
// 60 s and, for a second, ids that do not exist. Invalidated by NOTIFY and by `invalidate` in this
// process. run() sends a heartbeat through the same channel; after 900 ms without a notification
// the cache is bypassed. A stale answer is therefore under a second old, except while the database
// does not answer. Thread-safe.
class SandboxCache {
 public:
  // Bounds of the cache; the least recently used are forgotten. A sandbox takes some 2 KiB, but its
  // metadata alone may have 36 KiB.
  struct Limits {
    size_t entries = 100'000;
    size_t bytes = 256 << 20;
  };
  explicit SandboxCache(Database& database) : SandboxCache(database, Limits()) {}
  SandboxCache(Database& database, Limits limits);

  // Null: no such sandbox. Throws what reading the row throws when nothing usable is cached.
  Task<CachedSandboxPtr> find(SandboxId id);
  // As find(), without a coroutine, for hot paths. Empty: not cached, invalidated, or the cache is
  // bypassed.
  std::optional<CachedSandboxPtr> peek(const SandboxId& id);
  // The last cached value, even if it has changed since, for ending a sandbox and telling of its
  // end while the database does not answer. Null: never cached, or evicted.
  CachedSandboxPtr last_seen(const SandboxId& id);
  // After a commit: the row has changed and has to be read again.
  void invalidate(const SandboxId& id);
  // As invalidate(), for a sandbox that has ended; also frees the entry.
  void evict(const SandboxId& id);
  // As invalidate(), but caches the row that the committed transaction returned last, unless it has
  // changed again since `as_of`, which was taken before that transaction began.
  struct Mark {
    uint64_t changes = 0;
  };
  Mark mark_of(const SandboxId& id);
  void store(const SandboxRecord& record, Mark as_of);

  static constexpr const char* kChannel = "sandbox_rows";  // for Notifications::subscribe
  void on_notification(const std::string& payload);
  // Sends the heartbeat until cancelled.
  Task<void> run();

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

 private:
  struct Entry {
    CachedSandboxPtr value;  // null: no such sandbox
    std::chrono::steady_clock::time_point until;
    bool invalidated = false;
    size_t bytes = 0;  // of the value, about
    std::list<std::string>::iterator position;
  };
  // So many changes of a shard are remembered. A row that was read before more of them is not
  // cached.
  static constexpr uint64_t kChanges = 256;
  struct Change {
    size_t id_hash = 0;
    int64_t revision = 0;  // that the row has since; 0: not known
  };
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::string, Entry> entries;
    std::list<std::string> recent;  // front: most recently used
    size_t bytes = 0;  // of all entries
    uint64_t changes = 0;  // so far; the latest are in `latest`, each at its number modulo kChanges
    std::array<Change, kChanges> latest;

    void note(const SandboxId& id, int64_t revision);
    // Whether a row with this revision, read after `mark`, is what the last known change left.
    bool is_current(const SandboxId& id, int64_t revision, Mark mark) const;
  };

  Shard& shard_of(const SandboxId& id);
  bool listening() const;
  void clear();
  void on_change(const SandboxId& id, int64_t revision);
  // Of any age, but not invalidated; null when there is none. For when the database is away.
  CachedSandboxPtr last_known(const SandboxId& id);
  // These want the shard's lock. False, without caching the value, if it is not current.
  bool put(Shard& shard, const SandboxId& id, CachedSandboxPtr value, Mark as_of);
  static void invalidate(Shard& shard, const SandboxId& id);
  void forget_old(Shard& shard) const;

  static constexpr size_t kShards = 16;
  Database& database_;
  const Limits limits_per_shard_;
  std::array<Shard, kShards> shards_;
  std::atomic<int64_t> heard_ns_{0};  // steady clock, of the last notification
  std::atomic<uint64_t> hits_{0}, misses_{0};
};

}  // namespace sandgate
