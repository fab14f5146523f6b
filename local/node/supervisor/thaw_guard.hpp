#pragma once
#include "gateway/core/time.hpp"
#include "local/namespaces/freezer.hpp"
#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {

// Thaws a sandbox that was frozen at `since`, of the UptimeClock, and tells its agent how long that
// was: time limits of programs go on from there. `freezer` is the sandbox's. The caller holds
// `busy`.
void thaw_and_tell(const LiveSandbox& live, const OpenFreezer& freezer, Time since);

// Thaws a sandbox at end() or in the destructor, unless it is paused. Construct it before freezing,
// and hold `busy` until it has thawed the sandbox. The constructor throws StepError if it could not
// thaw it.
class ThawGuard {
 public:
  explicit ThawGuard(const LiveSandbox& live) : live_(&live), freezer_(live.record.cgroups) {}
  ~ThawGuard() { end(); }
  ThawGuard(const ThawGuard&) = delete;
  ThawGuard& operator=(const ThawGuard&) = delete;

  void end();

 private:
  const LiveSandbox* live_;  // null: it is over
  const OpenFreezer freezer_;
  const Time since_ = UptimeClock().now();
};

}  // namespace sandgate
