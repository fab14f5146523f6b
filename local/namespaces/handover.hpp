#pragma once
#include <spawn.h>

#include <string>
#include <vector>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// Targets of a handover are below it; a descriptor a child is executed from stays above it.
constexpr int kAboveTargets = 64;

// Descriptors for a child that is about to start, under numbers of our choice. Sources are first
// moved out of the way of the targets. Throws StepError.
class Handover {
 public:
  Handover() { posix_spawn_file_actions_init(&actions_); }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;
  ~Handover() { posix_spawn_file_actions_destroy(&actions_); }

  void give(int fd, int target);
  // Starts `path` with these descriptors, in a session of its own (no terminal of ours, and our
  // signals do not reach it) and with no signal blocked or ignored. Returns its pid.
  pid_t spawn(const std::string& path, std::vector<std::string> argv,
              std::vector<std::string> environment) const;

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<Fd> sources_;
};

// A file in memory with `text`, for a child to read from its beginning.
Fd text_memfd(const char* name, const std::string& text);

}  // namespace sandgate
