#include "local/node/supervisor/id_range_kill.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

// Parses line by line, because the first line contains a name chosen by the process.
bool in_range(pid_t pid, uint32_t base) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Uid:\t")) continue;
    const auto uid = static_cast<uint32_t>(std::strtoul(line.c_str() + 5, nullptr, 10));
    return uid >= base && uid - base < kIdRange;
  }
  return false;
}

}  // namespace

void kill_id_range(uint32_t base) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    pid_t pid = std::stoi(name);
    const Fd pidfd = open_pidfd(pid);
    if (pidfd && in_range(pid, base)) kill_by_pidfd(pidfd);
  }
}

}  // namespace sandgate
