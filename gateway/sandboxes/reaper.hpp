#pragma once
#include <chrono>
#include <functional>

#include "gateway/sandboxes/activity.hpp"
#include "gateway/sandboxes/errands.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/snapshots.hpp"

namespace sandgate {

// Ends what is due and cleans up what was left half done. Any number of replicas may run one: rows
// are taken with FOR UPDATE SKIP LOCKED and leased by time. Each step may run alone; it takes rows
// and ends their charges, and what backends have to do about them goes on when it has returned.
class Reaper {
 public:
  struct Options {
    std::chrono::milliseconds expiry_every{500}, stopping_every{1000}, unknown_every{5000};
    std::chrono::milliseconds ahead{0};  // tests: pretend that it is that much later
    int batch = 50;
    std::function<bool()> hold;  // while true, run() changes nothing
    std::string machine;  // what stands on another gateway's machine is that gateway's to end
    std::shared_ptr<Activity> activity;  // what is in use here is not idle; null: only rows say it
  };
  Reaper(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle),
        parts_(lifecycle.parts()),
        pausing_(lifecycle),
        snapshots_(lifecycle),
        options_(std::move(options)),
        errands_(parts_.executor) {}

  Task<size_t> expire();  // TTL is over; returns how many were taken
  Task<size_t> end_idle();  // unused for their idle timeout
  Task<size_t> pause_due();  // the same, of those that are to be paused then
  Task<size_t> finish_pausing();  // pausing or resuming beyond their lease
  // The same without regard to leases, once: for who starts, since whoever had one may have died.
  Task<size_t> take_up_pausing();
  Task<size_t> clean_snapshots();  // half made, left by forks, to be removed
  Task<size_t> abandon();  // creating beyond their lease: their creator died
  Task<size_t> finish();  // stopping and due for another try
  // Attempts whose outcome nobody knows: looks for the orphan for 2 minutes and kills it.
  Task<size_t> resolve_unknown();
  Task<size_t> close_shadows();  // whose gateway died

  Task<void> run();  // all of them until cancelled
  Task<void> rest() const { return errands_.rest(); }  // before it is destroyed

 private:
  static constexpr std::chrono::seconds kLease{30};  // of what is taken up

  using Step = Task<size_t> (Reaper::*)();
  Task<void> every(std::chrono::milliseconds period, Step step, const char* name);
  // The line of what is to be done there; see Errands::line_of.
  std::string line_of(const TenantId& tenant, const std::string& deployment) const;

  // Ending.
  Task<size_t> stop_due(std::string condition, sandbox_rows::Stop stop);
  void bring_down_all(std::vector<SandboxRecord> records);

  // Pausing (reaper_pausing.cpp).
  // False: none that runs fulfils the condition. What is in use here of those that do is written.
  Task<bool> any_idle(std::string condition);
  bool is_due(const SandboxRecord& record) const;  // its time is over, in use or not
  void send_idle(const SandboxRecord& record);
  // Of one taken for idleness at `taken`: everybody has time to say that it is in use, and then it
  // runs on.
  Task<void> pause_unless_used(SandboxRecord record, std::chrono::steady_clock::time_point taken);
  // Goes on with what its row says of each: ends one that cannot be paused, if `or_end`.
  void carry_out_all(std::vector<SandboxRecord> records, bool or_end);
  Task<void> carry_out(SandboxRecord record, bool or_end);
  Task<size_t> take_half_paused(int most, std::chrono::milliseconds ahead);
  Task<void> take_up_once();

  // Attempts whose outcome nobody knows.
  Task<void> look_for_orphan(sandbox_rows::OpenAttempt open);
  // Kills what such an attempt made. True when nothing is left to find out.
  Task<bool> find_out(sandbox_rows::OpenAttempt open);

  Lifecycle& lifecycle_;
  const Lifecycle::Parts& parts_;  // the lifecycle's
  Pausing pausing_;
  Snapshots snapshots_;
  Options options_;
  Errands errands_;
};

}  // namespace sandgate
