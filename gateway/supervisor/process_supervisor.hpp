#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/supervisor/child.hpp"

namespace sandgate {

// Keeps a set of processes running: restarts what dies (with a growing pause), passes SIGHUP on to
// those that reload, and on SIGTERM or SIGINT stops them in reverse order. Single-threaded, parses
// nothing itself.
//
// When this process is killed the kernel stops the children; sandboxes are not children and live
// on.
class ProcessSupervisor {
 public:
  // A child with this exit code cannot start at all (bad setting, port in use): everything stops,
  // unless it has run well before. Then the reason may pass (a full disk).
  static constexpr int kCannotStart = 2;

  // What those that reload are told from a SIGHUP on, and started with.
  struct Renewal {
    std::string settings;
    std::chrono::seconds stop_patience;
  };

  void add(ChildSpec spec, std::chrono::seconds stop_patience);
  // Asked at every SIGHUP; nothing: all stays as it is, and those that reload hear of the signal
  // all the same. Must not throw.
  void on_reload(std::function<std::optional<Renewal>()> renew) { renew_ = std::move(renew); }
  // Returns the exit code for this process. Throws Error(unavailable), with what it said itself,
  // when a child cannot start.
  int run();

 private:
  struct Child {
    ChildSpec spec;
    std::chrono::seconds stop_patience{10};
    pid_t pid = 0;
    std::chrono::steady_clock::time_point started_at, start_again_at;
    int failures = 0;
    int settings = -1;  // see StartedChild
    int exits = 0;  // with a failure, one after the other
    bool proven = false;  // was stable once
    bool renewed = false;  // has settings that it was not told of yet
  };

  void start_due();
  void reload();
  // Hands renewed settings on as soon as their child has taken the ones before.
  void tell_renewed();
  // Reaps what ended; returns why when everything has to stop.
  std::optional<std::string> reap();
  // Why a child that ended can never start; empty when it may.
  std::optional<std::string> hopeless(Child& child, int status);
  void ended(Child& child, int status);
  // To be started after a pause that grows with its failures, one after the other.
  static void put_off(Child& child, int failures);
  void stop_all();
  int milliseconds_to_next_start() const;

  std::vector<Child> children_;
  std::function<std::optional<Renewal>()> renew_;
};

}  // namespace sandgate
