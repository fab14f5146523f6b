#include "local/node/seccomp_log.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr const char* kSeccompSetting = "kernel.seccomp.actions_logged";

struct LoggedAnswers {
  std::string ends;  // of programs; separated by spaces
  bool has_others = false;
};

LoggedAnswers logged_answers(const std::string& path) {
  LoggedAnswers logged;
  std::istringstream words(read_text_file(path).value_or(""));
  for (std::string word; words >> word;) {
    if (word.starts_with("kill_"))
      logged.ends += (logged.ends.empty() ? "" : " ") + word;
    else
      logged.has_others = true;
  }
  return logged;
}

}  // namespace

SeccompLog::Outcome SeccompLog::reduce() const {
  const LoggedAnswers logged = logged_answers(path_);
  if (!logged.has_others) return Outcome::no_need;
  std::ofstream(path_) << logged.ends << "\n";
  return logged_answers(path_).has_others ? Outcome::refused : Outcome::reduced;
}

ProbeResult SeccompLog::probe() const {
  const std::string name = "log of system calls";
  if (access(path_.c_str(), F_OK) != 0) return {name, true, false, "not known", ""};
  if (!logged_answers(path_).has_others) return {name, true, false, "only of programs' ends", ""};
  if (access(path_.c_str(), W_OK) == 0)
    return {name, true, false, "of all answers until a node begins, which reduces it", ""};
  return {name, false, false, "a sandbox can fill the machine's log",
          std::string("sysctl -w ") + kSeccompSetting + "=\"kill_process kill_thread\""};
}

void reduce_seccomp_log() {
  const auto outcome = SeccompLog().reduce();
  if (outcome == SeccompLog::Outcome::reduced)
    log::info("answers of system call filters are logged no more on this machine",
              {{"setting", kSeccompSetting}});
  if (outcome == SeccompLog::Outcome::refused)
    log::warn("sandboxes can fill the machine's log, and this node may not prevent it",
              {{"setting", kSeccompSetting}, {"see", "sandgate doctor"}});
}

}  // namespace sandgate
