#include "local/node/machine_timestamps.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr const char* kName = "transmit timestamps";
constexpr const char* kSysctl = "net.core.tstamp_allow_data";

// Kernels whose namespaces share one setting show it in the first namespace only.
bool namespaces_have_own() {
  const int flags = CLONE_NEWNET | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
  const pid_t child = fork();
  if (child == 0) _exit(unshare(flags) == 0 && access(kTransmitTimestamps, F_OK) == 0 ? 0 : 1);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status == 0;
}

bool is_on(const std::string& path) {
  const std::string value = read_text_file(path).value_or("");
  return !value.empty() && !value.starts_with("0");
}

}  // namespace

MachineTimestamps::Outcome MachineTimestamps::turn_off() const {
  if (each_has_own_ || !is_on(path_)) return Outcome::no_need;
  std::ofstream(path_) << "0\n";
  return is_on(path_) ? Outcome::refused : Outcome::turned_off;
}

ProbeResult MachineTimestamps::probe() const {
  if (each_has_own_) return {kName, true, false, "off in each sandbox", ""};
  if (access(path_.c_str(), F_OK) != 0) return {kName, true, false, "not known", ""};
  if (!is_on(path_)) return {kName, true, false, "off on the whole machine", ""};
  if (access(path_.c_str(), W_OK) == 0)
    return {kName, true, false, "on until a node begins, which turns them off", ""};
  return {kName, false, false, "on: a sandbox can hold memory beyond its limit",
          std::string("sysctl -w ") + kSysctl + "=0"};
}

void turn_off_machine_timestamps() {
  const auto outcome = MachineTimestamps(namespaces_have_own()).turn_off();
  if (outcome == MachineTimestamps::Outcome::turned_off)
    log::info("transmit timestamps turned off on this machine", {{"setting", kSysctl}});
  if (outcome == MachineTimestamps::Outcome::refused)
    log::warn("transmit timestamps are on, and this node may not turn them off",
              {{"setting", kSysctl}, {"see", "sandgate doctor"}});
}

ProbeResult probe_machine_timestamps() { return MachineTimestamps(namespaces_have_own()).probe(); }

}  // namespace sandgate
