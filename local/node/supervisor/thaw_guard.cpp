#include "local/node/supervisor/thaw_guard.hpp"

#include "local/agent/pause_signal.hpp"

namespace sandgate {

// In this order: the agent looks for it as soon as it goes on, before it ends any program.
void thaw_and_tell(const LiveSandbox& live, const OpenFreezer& freezer, Time since) {
  agent::send_pause(live.pidfd.get(), UptimeClock().now() - since);
  freezer.thaw();
}

void ThawGuard::end() {
  if (live_ && !live_->record.paused) thaw_and_tell(*live_, freezer_, since_);
  live_ = nullptr;
}

}  // namespace sandgate
