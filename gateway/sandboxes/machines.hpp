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
class Machines {
 public:
  struct Options {
    std::string own;  // empty: this gateway runs no sandboxes itself
    std::chrono::milliseconds silence{600'000};
    // A gateway that did not look for longer, as in an outage of the database, cannot tell silence
    // from that outage, and waits anew.
    std::chrono::milliseconds gap{60'000};
  };
  Machines(Lifecycle& lifecycle, Options options)
      : lifecycle_(lifecycle), options_(std::move(options)) {}

  // To be repeated every few seconds, one call at a time. Returns how many sandboxes it ended.
  Task<size_t> step();

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Sign {
    std::string machine;
    Time seen;
  };
  // The last sign of a machine, and since when there was none after it.
  struct Quiet {
    Time seen;
    Instant since;
  };

  Task<std::vector<Sign>> give_and_read_signs();
  void compare(const std::vector<Sign>& signs, Instant now);
  // Returns how many it ended. Forgets the machine once none is left.
  Task<size_t> end_all_on(Sign last);

  Lifecycle& lifecycle_;
  const Options options_;
  std::map<std::string, Quiet> quiet_;
  Instant looked_{};
};

}  // namespace sandgate
