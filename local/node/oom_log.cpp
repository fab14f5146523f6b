#include "local/node/oom_log.hpp"

#include <unistd.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr const char* kOomSetting = "vm.oom_dump_tasks";

}  // namespace

bool OomLog::lists_tasks() const {
  const std::string value = read_text_file(path_).value_or("");
  return !value.empty() && !value.starts_with("0");
}

OomLog::Outcome OomLog::reduce() const {
  if (!lists_tasks()) return Outcome::no_need;
  std::ofstream(path_) << "0\n";
  return lists_tasks() ? Outcome::refused : Outcome::reduced;
}

ProbeResult OomLog::probe() const {
  const std::string name = "log of memory shortage";
  if (access(path_.c_str(), F_OK) != 0) return {name, true, false, "not known", ""};
  if (!lists_tasks()) return {name, true, false, "without a list of processes", ""};
  if (access(path_.c_str(), W_OK) == 0)
    return {name, true, false, "lists processes until a node begins, which ends that", ""};
  return {name, false, false, "a sandbox can fill the machine's log",
          std::string("sysctl -w ") + kOomSetting + "=0"};
}

void reduce_oom_log() {
  const auto outcome = OomLog().reduce();
  if (outcome == OomLog::Outcome::reduced)
    log::info("processes are listed no more when memory is short on this machine",
              {{"setting", kOomSetting}});
  if (outcome == OomLog::Outcome::refused)
    log::warn("sandboxes can fill the machine's log, and this node may not prevent it",
              {{"setting", kOomSetting}, {"see", "sandgate doctor"}});
}

}  // namespace sandgate
