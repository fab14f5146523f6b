#pragma once
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "gateway/supervisor/child.hpp"

namespace sandgate {

// A process that is kept running: when it is started again, and how it is told of new settings.
//
// With exit code kCannotStart it cannot start, likewise after eight failed exits. One that ran for
// over ten seconds in an earlier run is started again instead, because the cause may pass (a full
// disk).
class SupervisedChild {
 public:
  // New settings and stop patience, for a child that reloads.
  struct Renewal {
    std::string settings;
    std::chrono::seconds stop_timeout;
  };

  SupervisedChild(ChildSpec spec, std::chrono::seconds stop_timeout)
      : spec_(std::move(spec)), stop_timeout_(stop_timeout) {}

  // Starts it if it does not run and its time has come. Returns the reason if it cannot start.
  std::optional<std::string> start_if_due();
  // Notes the end of process `pid`, with a status of waitpid(), if it is this one. Returns the
  // reason if it cannot start; otherwise it is due after a pause that grows with the consecutive
  // failures.
  std::optional<std::string> note_exit(pid_t pid, int status);
  // Sends SIGHUP to a child that reloads: at once without a renewal, else by send_renewed().
  void reload(const std::optional<Renewal>& renewal);
  // Hands renewed settings on once the child has read its previous ones.
  void send_renewed();
  // How long start_if_due() and send_renewed() have nothing to do; a minute at most.
  std::chrono::milliseconds idle_time() const;
  void stop();  // returns when it is dead, killed after its patience

 private:
  // Schedules the next start after a pause that grows with the consecutive failures.
  void schedule_restart(int failures);
  // Why it cannot start after an exit; empty if it may be started again.
  std::optional<std::string> fatal_reason(int status);

  ChildSpec spec_;
  std::chrono::seconds stop_timeout_;
  pid_t pid_ = 0;  // 0: it does not run
  std::chrono::steady_clock::time_point started_at_, start_again_at_;
  int failures_ = 0;
  Fd settings_;  // see StartedChild
  int exits_ = 0;  // failed exits or starts in total, before it is stable
  bool stable_ = false;  // has run long enough to count as stable
  bool renewed_ = false;  // has new settings that the child was not sent yet
};

}  // namespace sandgate
