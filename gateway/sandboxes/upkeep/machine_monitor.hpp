#pragma once
#include <chrono>
#include <map>
#include <string>

#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// The machines on which gateways of this database run sandboxes, by the names in backend ids. Each
// gateway writes that its own is there, and ends as lost the sandboxes of a machine that has been
// silent for `silence`: nobody else can, and they would be charged for ever. A machine that comes
// back kills what still runs there, because the rows have ended.
class MachineMonitor {
 public:
  struct Options {
    std::string own;  // empty: this gateway runs no sandboxes itself
    std::string place;  // of its home: the same after a restart, another one for a copy of the home
    std::chrono::milliseconds silence{600'000};
    // A gateway that did not look for longer, as in an outage of the database, cannot tell silence
    // from that outage, and waits anew.
    std::chrono::milliseconds gap{60'000};
  };
  MachineMonitor(Lifecycle& lifecycle, Options options)
      : parts_(lifecycle.parts()), options_(std::move(options)) {}

  // False while a gateway at another place gives signs under the name of this machine. Each would
  // find the sandboxes of the other lost, so this one must not begin.
  Task<bool> claim();

  // To be repeated every few seconds, one call at a time. Returns how many sandboxes it ended.
  Task<size_t> step();

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Heartbeat {
    std::string machine;
    Time seen;
  };
  // The last heartbeat of a machine, and since when there was none after it.
  struct Silence {
    Time seen;
    Instant since;
  };

  Task<std::vector<Heartbeat>> exchange_heartbeats();
  void compare(const std::vector<Heartbeat>& heartbeats, Instant now);
  // Returns how many it ended. Forgets the machine once none is left.
  Task<size_t> end_all_on(Heartbeat last);

  const Lifecycle::Parts& parts_;  // the lifecycle's
  const Options options_;
  std::map<std::string, Silence> silences_;
  Instant last_step_{};
};

}  // namespace sandgate
