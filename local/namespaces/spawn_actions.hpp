#pragma once
#include <spawn.h>

#include <string>
#include <vector>

#include "gateway/core/fd.hpp"

namespace sandgate {

// Targets of a handover are below this number. A program executed by descriptor must be above it.
constexpr int kTargetLimit = 64;

// Starts a child process with chosen descriptors under chosen numbers. Sources are first duplicated
// above kTargetLimit, so that no target overwrites them. Throws StepError.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }

  void map_fd(int fd, int target);
  // Starts `path` with these descriptors, in a session of its own (without the caller's terminal
  // and its signals) and with no signal blocked or ignored. Returns its pid.
  pid_t spawn(const std::string& path, std::vector<std::string> argv,
              std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<Fd> sources_;
};

// Makes a memfd with `text`, for a child to read from the beginning. Throws StepError.
Fd text_memfd(const char* name, const std::string& text);

}  // namespace sandgate
