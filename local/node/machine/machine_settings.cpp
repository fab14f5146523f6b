#include "local/node/machine/machine_settings.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"
#include "local/namespaces/transmit_timestamps.hpp"
#include "local/node/machine/sysctl.hpp"

namespace sandgate {
namespace {

// Kernels whose namespaces share one setting show it in the first namespace only.
bool namespaces_have_own_timestamps() {
  const int flags = CLONE_NEWNET | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
  const std::string setting = std::string("/proc/sys/net/") + kTransmitTimestamps;
  const pid_t child = fork();
  if (child == 0) _exit(unshare(flags) == 0 && access(setting.c_str(), F_OK) == 0 ? 0 : 1);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status == 0;
}

std::optional<std::string> turned_off(const std::string& value) {
  if (value.empty() || value.starts_with("0")) return std::nullopt;
  return "0";
}

std::optional<std::string> only_ends_of_programs(const std::string& logged) {
  std::string ends;
  bool has_others = false;
  std::istringstream words(logged);
  for (std::string word; words >> word;) {
    if (word.starts_with("kill_"))
      ends += (ends.empty() ? "" : " ") + word;
    else
      has_others = true;
  }
  return has_others ? std::optional(ends) : std::nullopt;
}

// It counts for sandboxes where network namespaces have none of their own; there a sandbox could
// hold memory far beyond its limit while it is on.
MachineSetting::Definition transmit_timestamps(bool own_timestamps) {
  return {.name = "transmit timestamps",
          .sysctl = "net.core.tstamp_allow_data",
          .remedy = turned_off,
          .advice = "0",
          .harmless = "off on the whole machine",
          .until_a_node = "on until a node begins, which turns them off",
          .harmful = "on: a sandbox can hold memory beyond its limit",
          .changed = "transmit timestamps turned off on this machine",
          .refused = "transmit timestamps are on, and this node may not turn them off",
          .not_needed = own_timestamps ? "off in each sandbox" : ""};
}

// A program may install a filter whose every answer is logged: two hundred thousand lines a second
// in the log of the machine, which pushes all others out of the kernel's, written by threads that
// no control group limits. Only the ends of programs by a filter stay, as rare as their starts.
MachineSetting::Definition log_of_system_calls() {
  return {.name = "log of system calls",
          .sysctl = "kernel.seccomp.actions_logged",
          .remedy = only_ends_of_programs,
          .advice = "\"kill_process kill_thread\"",
          .harmless = "only of programs' ends",
          .until_a_node = "of all answers until a node begins, which reduces it",
          .harmful = "a sandbox can fill the machine's log",
          .changed = "answers of system call filters are logged no more on this machine",
          .refused = "sandboxes can fill the machine's log, and this node may not prevent it"};
}

// Whether the kernel lists all processes of a control group that is out of memory, a line for each,
// whenever it ends one of them. A sandbox of 512 processes that does so again and again writes a
// thousand lines a second, which push all others out of the kernel's log.
MachineSetting::Definition log_of_memory_shortage() {
  return {.name = "log of memory shortage",
          .sysctl = "vm.oom_dump_tasks",
          .remedy = turned_off,
          .advice = "0",
          .harmless = "without a list of processes",
          .until_a_node = "lists processes until a node begins, which ends that",
          .harmful = "a sandbox can fill the machine's log",
          .changed = "processes are listed no more when memory is short on this machine",
          .refused = "sandboxes can fill the machine's log, and this node may not prevent it"};
}

}  // namespace

std::optional<std::string> MachineSetting::remedy() const {
  if (!definition_.not_needed.empty()) return std::nullopt;
  return definition_.remedy(read_text_file(path_).value_or(""));
}

MachineSetting::Outcome MachineSetting::change() const {
  const auto wanted = remedy();
  if (!wanted) return Outcome::no_need;
  write_sysctl(path_, *wanted);
  return remedy() ? Outcome::refused : Outcome::changed;
}

void MachineSetting::change_and_log() const {
  const Outcome outcome = change();
  if (outcome == Outcome::changed)
    log::info(definition_.changed, {{"setting", definition_.sysctl}});
  if (outcome == Outcome::refused)
    log::warn(definition_.refused, {{"setting", definition_.sysctl}, {"see", "sandgate doctor"}});
}

ProbeResult MachineSetting::probe() const {
  const Definition& told = definition_;
  const auto fine = [&](const std::string& detail) -> ProbeResult {
    return {told.name, true, detail, ""};
  };
  if (!told.not_needed.empty()) return fine(told.not_needed);
  if (access(path_.c_str(), F_OK) != 0) return fine("not known");
  if (!remedy()) return fine(told.harmless);
  if (access(path_.c_str(), W_OK) == 0) return fine(told.until_a_node);
  return {told.name, false, told.harmful, "sysctl -w " + told.sysctl + "=" + told.advice};
}

std::vector<MachineSetting> machine_settings(bool own_timestamps, const std::string& proc) {
  std::vector<MachineSetting> settings;
  for (const auto& definition :
       {transmit_timestamps(own_timestamps), log_of_system_calls(), log_of_memory_shortage()})
    settings.emplace_back(definition, sysctl_path(definition.sysctl, proc));
  return settings;
}

void change_machine_settings() {
  for (const MachineSetting& setting : machine_settings(namespaces_have_own_timestamps()))
    setting.change_and_log();
}

std::vector<ProbeResult> probe_machine_settings() {
  std::vector<ProbeResult> results;
  for (const MachineSetting& setting : machine_settings(namespaces_have_own_timestamps()))
    results.push_back(setting.probe());
  return results;
}

}  // namespace sandgate
