#pragma once
#include <string>
#include <vector>

#include "local/node/probe.hpp"

namespace sandgate {

// What all programs of a machine share and no control group divides among sandboxes: open files,
// process numbers, terminals. A sandbox's own limits (memory, which each open file takes some of;
// processes; terminals) end what it takes long before the kernel has to, so the machine's may be as
// high as they go. Where they are low, a few sandboxes can take all that there is from the others,
// the gateway and the host.
class Ceiling {
 public:
  struct Setting {
    std::string name;
    std::string sysctl;
    std::string path;
    int64_t enough, most;
    std::string kept_because;  // why it has to stay as it is; empty: it may be raised
  };
  enum class Lifted { was_enough, raised, refused };

  explicit Ceiling(Setting setting) : setting_(std::move(setting)) {}

  // To the most, where it is not enough.
  Lifted lift() const;
  ProbeResult probe() const;
  const std::string& sysctl() const { return setting_.sysctl; }

 private:
  const Setting setting_;
};

// `proc`: in tests, where else to look.
std::vector<Ceiling> ceilings(const std::string& proc = "/proc");

// Lifts all, as systemd does with the first two at boot, and logs once what was and could not be.
void lift_ceilings();
std::vector<ProbeResult> probe_ceilings();

}  // namespace sandgate
