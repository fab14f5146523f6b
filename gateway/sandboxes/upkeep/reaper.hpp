#pragma once
#include <chrono>
#include <functional>

#include "gateway/sandboxes/activity.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "gateway/sandboxes/upkeep/keyed_work_queue.hpp"

namespace sandgate {

// Periodic jobs that end expired and idle sandboxes and finish interrupted work. Any number of
// replicas may run them: rows are taken with FOR UPDATE SKIP LOCKED and leased. A step takes rows
// and ends their charges; the calls to backends continue in the background after it returns.
class Reaper {
 public:
  struct Options {
    std::chrono::milliseconds expiry_every{500}, stopping_every{1000}, unknown_every{5000};
    std::chrono::milliseconds ahead{0};  // added to the current time when judging what is due
    int batch = 50;
    // Whether the sandbox's end is known already and has yet to be written: no step ends or
    // changes its charge then. Called from any thread.
    std::function<bool(const SandboxId&)> end_is_known;
    std::string machine;  // this gateway's; sandboxes on other gateways' are left alone
    std::shared_ptr<Activity> activity;  // use through this process; null: none known
  };
  Reaper(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle),
        parts_(lifecycle.parts()),
        pausing_(lifecycle),
        snapshots_(lifecycle),
        options_(std::move(options)),
        work_queue_(parts_.executor) {}

  Task<size_t> expire();  // TTL is over; every step returns the number of rows taken
  Task<size_t> end_idle();  // idle timeout is over, on_idle is `kill`
  // TTL or idle timeout is over, action is `pause`. What the backend refuses for now runs on and is
  // taken again; what it cannot pause is killed.
  Task<size_t> pause_due();
  Task<size_t> finish_pausing();  // in pausing or resuming past their lease
  // finish_pausing() regardless of leases, for the start: a lease's holder may have crashed.
  Task<size_t> recover_pausing();
  // Snapshots that are unfinished, left by forks, or to be removed. Those on our own machine do not
  // occupy it until their leases are over.
  Task<size_t> clean_snapshots();
  // For the start: gives up what earlier processes were making on our own machine.
  Task<size_t> recover_snapshots();
  Task<size_t> abandon();  // in creating past their lease: their creator crashed
  Task<size_t> finish();  // in stopping and due for another try
  // Attempts of unknown outcome: looks for their sandbox for 2 minutes and kills it.
  Task<size_t> resolve_unknown();
  Task<size_t> close_shadows();  // of crashed gateways

  Task<void> run();  // all steps, until cancelled
  Task<void> drain() const { return work_queue_.drain(); }  // await before destruction

 private:
  static constexpr std::chrono::seconds kLease{30};  // of rows taken
  // Time for other gateways to hear of a sandbox that looks idle, and to write their use.
  static constexpr std::chrono::milliseconds kFlushGrace{300};

  using Step = Task<size_t> (Reaper::*)();
  // `rest`: a pause after a round that failed.
  Task<void> every(std::chrono::milliseconds period, Step step, const char* name,
                   std::chrono::milliseconds rest = {});
  // The key of the queue for work on a deployment; see KeyedWorkQueue::queue_key().
  std::string queue_key(const TenantId& tenant, const std::string& deployment) const;

  // Ending.
  struct Ending {
    sandbox_rows::Due due;
    sandbox_rows::Stop stop;
  };
  // Ends what is due. A row that cannot be ended, as while somebody has it locked, keeps none of
  // the others from being ended.
  Task<size_t> end_due(Ending ending);
  Task<std::vector<SandboxRecord>> find_due(Ending ending, std::vector<std::string> stuck_tenants);
  // Lets all replicas write their use of these sandboxes.
  Task<void> request_use_flush(std::vector<SandboxRecord> records);
  Task<bool> end_one(SandboxRecord due, Ending ending);  // false: it is not due any more
  // Sandboxes created before are not judged by their idleness: soon after the start, their rows may
  // lack use.
  Time judged_since() const;
  // Whether this process knows of use that the row does not show.
  bool is_used_here(const SandboxRecord& record) const;
  void finish_stopping_later(SandboxRecord record);

  // Pausing (reaper_pausing.cpp).
  // Writes this process's use of running sandboxes that are to be paused for idleness. Throws
  // Error(unavailable).
  Task<void> flush_use();
  bool is_due(const SandboxRecord& record) const;  // its TTL is over, whether in use or not
  void post_idle(const SandboxRecord& record);
  // Pauses a sandbox that was taken for idleness at `taken`, after giving all replicas time to
  // report use; a sandbox in use is set back to running.
  Task<void> pause_unless_used(SandboxRecord record, std::chrono::steady_clock::time_point taken);
  // Carries out the transitions in the background; with `or_end`, kills what cannot be paused.
  void carry_out_all(std::vector<SandboxRecord> records, bool or_end);
  Task<void> carry_out(SandboxRecord record, bool or_end);
  Task<size_t> take_half_paused(int most, std::chrono::milliseconds ahead);
  Task<void> recover_once();

  // Attempts of unknown outcome.
  Task<void> find_orphan(sandbox_rows::OpenAttempt open);
  // Kills what the attempt created. True when the attempt needs no further look.
  Task<bool> resolve_attempt(sandbox_rows::OpenAttempt open);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  Pausing pausing_;
  Snapshots snapshots_;
  Options options_;
  KeyedWorkQueue work_queue_;
  Time started_;  // run(), by the database's clock
  const std::chrono::steady_clock::time_point made_ = std::chrono::steady_clock::now();
};

}  // namespace sandgate
