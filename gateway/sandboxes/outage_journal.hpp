#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "billing/meter.hpp"
#include "gateway/core/durable_journal.hpp"
#include "gateway/sandboxes/record.hpp"

namespace sandgate {

class Lifecycle;

// The end of a sandbox that was asked for, or seen, while the database was away.
struct EndIntention {
  TenantId tenant;
  SandboxId sandbox;
  Time at;  // when the charge ends; see Meter::close
  std::string reason;  // killed, failed
  std::optional<SandboxFailure> failure;
  std::optional<Meter::Measured> counters;  // what its backend had counted by then
  std::optional<Time> gone_at;  // when its backend had ended it; empty: not known yet
};

// Ends of sandboxes on this machine's disk until the database has them. Usage itself needs no
// journal: it is worked out from where the metering stood, once the database is back.
class OutageJournal {
 public:
  explicit OutageJournal(DurableJournal::Options options);

  // Resumes once it is on disk. Throws Error(unavailable) when it can't be: then it did not happen.
  Task<void> remember(EndIntention intention);
  // Whether the sandbox, or the tenant's, is known to have ended, though not to the database.
  bool has(const SandboxId& sandbox) const;
  bool has(const TenantId& tenant, const SandboxId& sandbox) const;
  // The state to tell of: one whose end waits here does not run, whatever its row says.
  SandboxState state_of(const SandboxRecord& record) const;
  bool is_pending() const { return journal_.records() > 0; }

  // Writes everything into the database, in order and each once, whatever crashes in between; what
  // books usage has to wait for it, or it would charge beyond the end. Throws Error(unavailable)
  // while the database is away. Returns how many it wrote.
  Task<size_t> replay(Lifecycle& lifecycle);

  size_t records() const { return journal_.records(); }
  size_t bytes() const { return journal_.bytes(); }
  uint64_t replayed() const { return replayed_; }  // since the start of this process

 private:
  Task<size_t> replay_alone(Lifecycle& lifecycle);
  void note(const std::string& tenant, const std::string& sandbox, bool known);

  DurableJournal journal_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> ended_;  // its tenant, by sandbox
  std::atomic<bool> busy_{false};
  std::atomic<uint64_t> replayed_{0};
};

}  // namespace sandgate
