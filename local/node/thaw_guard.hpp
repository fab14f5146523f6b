#pragma once
#include "gateway/core/time.hpp"
#include "local/node/sandbox_table.hpp"

namespace sandgate {

// Thaws a sandbox that was frozen at `since`, of the UptimeClock, and tells its agent how long that
// was: time limits of programs go on from there. The caller holds `busy`.
void thaw_and_tell(const LiveSandbox& live, Time since);

// Thaws a sandbox at end() or in the destructor, unless it is paused. Construct it before freezing,
// and hold `busy` until it has thawed the sandbox.
class ThawGuard {
 public:
  explicit ThawGuard(const LiveSandbox& live) : live_(&live) {}
  ~ThawGuard() { end(); }
  ThawGuard(const ThawGuard&) = delete;
  ThawGuard& operator=(const ThawGuard&) = delete;

  void end();

 private:
  const LiveSandbox* live_;  // null: it is over
  const Time since_ = UptimeClock().now();
};

}  // namespace sandgate
