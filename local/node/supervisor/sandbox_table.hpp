#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/node/supervisor/journal.hpp"

namespace sandgate {

// A sandbox of this machine, from the reservation of its name until its traces are removed.
struct LiveSandbox {
  std::timed_mutex busy;  // held while the sandbox is created, changed or ended
  std::mutex recording;  // held while its journal entry is changed; locked after busy
  // Changed by the table only. All of it but expires_at may be read while busy is held.
  JournalRecord record;
  Fd pidfd;  // guarded by busy
  // Guarded by busy. Holding them open moves the teardown of the disk and mounts from the end of
  // the processes, for which callers wait, to the removal of the traces.
  Fd disk, mounts;
  bool gone = false;  // guarded by the table: ended, and hidden from callers
  bool owned = true;  // guarded by the table: false for a warm sandbox, hidden from callers
  bool overdue = false;  // guarded by the table: expired, and its end was requested
  std::atomic<bool> ending{false};  // a thread waits for busy in order to end it
  std::atomic<bool> copying{false};  // busy is held for the duration of a disk copy
  bool killed = false;  // guarded by busy: on request
  // Guarded by busy: its processes are being frozen for a pause, which is given up then.
  std::optional<std::chrono::steady_clock::time_point> freezing_until;
};
using LivePtr = std::shared_ptr<LiveSandbox>;

// Locks busy if that takes no longer than a moment, so that one sandbox does not block threads that
// serve all. Throws Error: conflict while the disk is copied or the sandbox ends, timeout while it
// is busy with something shorter.
std::unique_lock<std::timed_mutex> lock_sandbox(LiveSandbox& live);

// Sets a sandbox's `copying` during its lifetime.
class Copying {
 public:
  Copying(LiveSandbox& live, bool on) : flag_(live.copying) { flag_ = on; }
  ~Copying() { flag_ = false; }
  Copying(const Copying&) = delete;

 private:
  std::atomic<bool>& flag_;
};

// The sandboxes of one machine by their ids, and their records in memory. Thread-safe; no call but
// update() blocks.
class SandboxTable {
 public:
  // The journal must outlive the table.
  explicit SandboxTable(const Journal& journal) : journal_(journal) {}

  void insert(const LivePtr& live);  // under its record's id; throws Error(conflict)
  // Gives a warm sandbox the id and record of its owner's sandbox. Throws Error(conflict).
  void assign(const LivePtr& warm, const JournalRecord& record);
  bool is_gone(const LiveSandbox& live) const;
  void mark_gone(LiveSandbox& live);  // it is gone, and hidden from callers
  void remove(const std::string& id);

  LivePtr lookup(const std::string& id) const;  // null: unknown or gone
  LivePtr get(const std::string& id) const;  // throws Error(not_found)
  // To be called after locking live.busy, since the sandbox may have ended meanwhile. Throws
  // Error(not_found).
  void check_alive(const LiveSandbox& live) const;
  // Without warm sandboxes, and without what is gone.
  std::optional<JournalRecord> find(const std::string& id) const;
  std::vector<JournalRecord> list() const;
  std::vector<LivePtr> warm() const;
  // Returns the running sandboxes that expired before `limit`, of the UptimeClock, each once only.
  std::vector<std::string> take_expired(Time limit);

  using Change = std::function<void(JournalRecord&)>;
  // Changes the record of a running sandbox, in the journal and in memory. Throws Error(not_found,
  // unavailable).
  void update(LiveSandbox& live, const Change& change);
  // In memory only.
  void update_in_memory(LiveSandbox& live, const Change& change);

 private:
  const Journal& journal_;
  mutable std::mutex mutex_;
  std::map<std::string, LivePtr> sandboxes_;
};

}  // namespace sandgate
