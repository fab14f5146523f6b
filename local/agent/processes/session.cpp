#include "local/agent/processes/session.hpp"

#include <dirent.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "local/agent/files/file.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxStat = 4096;

// Reads field 6 of /proc/<pid>/stat. The name before it may contain any text, even parentheses.
pid_t session_of(const char* pid) {
  const std::string text =
      read_small_file(("/proc/" + std::string(pid) + "/stat").c_str(), kMaxStat);
  const size_t name_end = text.rfind(')');
  int session = -1;
  if (name_end == std::string::npos ||
      std::sscanf(text.c_str() + name_end + 1, " %*c %*d %*d %d", &session) != 1)
    return -1;
  return session;
}

}  // namespace

void kill_session(pid_t session) {
  DIR* proc = ::opendir("/proc");
  if (!proc) return;
  while (const dirent* entry = ::readdir(proc)) {
    const int pid = std::atoi(entry->d_name);
    if (pid > 1 && session_of(entry->d_name) == session) ::kill(pid, SIGKILL);
  }
  ::closedir(proc);
}

}  // namespace sandgate::agent
