#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "billing/usage/meter.hpp"
#include "gateway/core/durable_journal.hpp"
#include "gateway/core/file_lock.hpp"
#include "gateway/sandboxes/rows/record.hpp"

namespace sandgate {

class Lifecycle;

// The end of a sandbox that was requested or observed while the database was away.
struct EndIntention {
  TenantId tenant;
  SandboxId sandbox;
  Time at;  // end of the charge; see Meter::close
  std::string reason;  // as SandboxRecord::ended_reason
  std::optional<SandboxFailure> failure;
  std::optional<Meter::Measured> counters;  // the backend's final counters
  std::optional<Time> gone_at;  // when the backend had ended it; empty: unknown
};

// Durable local journal of the ends of sandboxes until the database has them. Usage needs no
// journal: metering resumes from its last booked time once the database answers. The file belongs
// to one process at a time.
class OutageJournal {
 public:
  // Waits, up to a minute, until an earlier process has let go of the file. Throws
  // Error(unavailable) if it does not, and what DurableJournal's constructor throws.
  explicit OutageJournal(DurableJournal::Options options);
  // Leaves the file and what it holds to the next process, as soon as nothing is being written to
  // it: later calls of append() throw Error(unavailable), and replay() does nothing.
  void release();

  // Resumes once the intention is on disk. Throws Error(unavailable), without effect, otherwise.
  Task<void> append(EndIntention intention);
  // Whether the journal holds an end of the sandbox (of this tenant).
  bool has(const SandboxId& sandbox) const;
  bool has(const TenantId& tenant, const SandboxId& sandbox) const;
  // Whether it also says that the backend had ended it.
  bool says_gone(const SandboxId& sandbox) const;
  // The ended_reason to report, with the state `stopping`, for a sandbox whose row says that it
  // lives although its end is in the journal, or was within the last minute (the row may have been
  // read before replay() wrote the end). Empty: report what the row says.
  std::optional<std::string> reason_of(const SandboxRecord& record) const;
  std::optional<std::string> reason_of(const SandboxId& sandbox) const;  // of a live row
  // The tenant's sandboxes that have such a reason where their rows are live, with the reason.
  std::map<std::string, std::string> ending(const TenantId& tenant) const;
  bool is_pending() const { return records() > 0; }
  // The sandboxes of ends that are not written yet. Until they are, no usage of these may be
  // booked, or it would be charged beyond the end.
  std::set<std::string> kept() const;

  // Writes the ends into the database, those of one sandbox in order, and each exactly once, even
  // across crashes. What cannot be written at the moment, as while somebody has the sandbox's row
  // locked, waits for a later call and holds up no other sandbox, but for the limits of
  // FailureLimiter. An end that the database refuses is logged and dropped. Returns the number of
  // ends written. Throws Error(unavailable) while the database is away.
  Task<size_t> replay(Lifecycle& lifecycle);

  size_t records() const;
  size_t damaged() const { return journal_.damaged(); }
  size_t bytes() const { return journal_.bytes(); }
  uint64_t replayed() const { return replayed_; }  // since this process started

 private:
  struct Round;  // one replay
  class Use;  // what is done to the file, while it is done
  Task<size_t> replay_alone(Lifecycle& lifecycle);
  // False: the record has to wait. Throws Error(unavailable) while the database is away.
  Task<bool> write_one(Lifecycle& lifecycle, Round& round, DurableJournal::Record record);
  // False: the database refuses this end itself.
  Task<bool> write_kept(Lifecycle& lifecycle, const Round& round, uint64_t sequence,
                        EndIntention end);
  // Removes from the journal what is written, as far as nothing before it waits.
  Task<void> forget(uint64_t sequence, bool in_order);
  bool is_written(uint64_t sequence) const;
  bool is_releasing() const;
  void note_kept(const EndIntention& intention);
  void note_not_kept(const SandboxId& sandbox);
  void note_written(const SandboxId& sandbox);

  // Longer than any statement may run.
  static constexpr std::chrono::seconds kRowsInFlight{60};
  struct Ended {
    std::string tenant;
    std::string reason;  // of the first end, which is the one that counts
    size_t kept = 0;  // records in the journal
    size_t written = 0;  // records that replay() wrote within kRowsInFlight
    bool is_gone = false;  // one of them has a gone_at
  };
  struct Written {
    std::chrono::steady_clock::time_point at;
    std::string sandbox;
  };
  std::optional<FileLock> lock_;  // guarded by mutex_; empty once let go
  bool releasing_ = false;
  int uses_ = 0;
  DurableJournal journal_;
  mutable std::mutex mutex_;
  std::map<std::string, Ended> ended_;  // by sandbox
  std::deque<Written> written_;  // oldest first
  std::set<uint64_t> out_of_order_;  // sequences written, behind one that waits
  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> replayed_{0};
};

}  // namespace sandgate
