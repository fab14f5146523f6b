#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/supervisor/child.hpp"

namespace sandgate {

// Keeps a set of processes running. Restarts those that die, with growing pauses, and forwards
// SIGHUP to those that reload. On SIGTERM or SIGINT stops all in reverse order. Single-threaded;
// parses no input itself.
//
// If this process is killed, the kernel stops the children. Sandboxes are not children and keep
// running.
class ProcessSupervisor {
 public:
  // A child with this exit code cannot start (bad setting, port in use), and everything stops;
  // likewise after eight failed exits. A child that ran for over ten seconds in an earlier
  // run is restarted instead, because the cause may pass (a full disk).
  static constexpr int kCannotStart = 2;

  // New settings and stop patience for the children that reload, applied at SIGHUP.
  struct Renewal {
    std::string settings;
    std::chrono::seconds stop_timeout;
  };

  void add(ChildSpec spec, std::chrono::seconds stop_timeout);
  // Called at every SIGHUP. If empty, settings stay as they are; the signal is forwarded either
  // way. Must not throw.
  void on_reload(std::function<std::optional<Renewal>()> renew) { renew_ = std::move(renew); }
  // Runs until told to stop and returns this process's exit code. Throws Error(unavailable) with
  // the child's final message if a child cannot start.
  int run();

 private:
  struct Child {
    ChildSpec spec;
    std::chrono::seconds stop_timeout{10};
    pid_t pid = 0;
    std::chrono::steady_clock::time_point started_at, start_again_at;
    int failures = 0;
    int settings = -1;  // see StartedChild
    int exits = 0;  // failed exits or starts in total, before it is stable
    bool stable = false;  // has run long enough to count as stable
    bool renewed = false;  // has new settings that the child was not sent yet
  };

  // Starts those whose time has come. Returns the reason if everything has to stop.
  std::optional<std::string> start_due();
  void reload();
  // Sends renewed settings to each child that has read its previous ones.
  void send_renewed();
  // Reaps ended processes. Returns the reason if everything has to stop.
  std::optional<std::string> reap();
  // Returns why an ended child can never start; empty if it may be restarted.
  std::optional<std::string> fatal_reason(Child& child, int status);
  void ended(Child& child, int status);
  // Schedules the next start after a pause that grows with the consecutive failures.
  static void schedule_restart(Child& child, int failures);
  void stop_all();
  int milliseconds_to_next_start() const;

  std::vector<Child> children_;
  std::function<std::optional<Renewal>()> renew_;
};

}  // namespace sandgate
