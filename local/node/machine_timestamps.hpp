#pragma once
#include <string>

#include "local/namespaces/transmit_timestamps.hpp"
#include "local/node/probe.hpp"

namespace sandgate {

// The machine's setting of transmit timestamps. It counts for sandboxes where network namespaces
// have none of their own; there a sandbox could hold memory far beyond its limit while it is on.
class MachineTimestamps {
 public:
  enum class Outcome { no_need, turned_off, refused };

  // `each_has_own`: network namespaces have settings of their own.
  explicit MachineTimestamps(bool each_has_own, std::string path = kTransmitTimestamps)
      : each_has_own_(each_has_own), path_(std::move(path)) {}

  Outcome turn_off() const;
  ProbeResult probe() const;

 private:
  const bool each_has_own_;
  const std::string path_;
};

// Turns them off if that is needed, and logs it. It is never undone. Call it before threads start:
// it forks.
void turn_off_machine_timestamps();
ProbeResult probe_machine_timestamps();

}  // namespace sandgate
