#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/agent/file.hpp"
#include "local/agent/identity.hpp"

namespace sandgate::agent {

struct SpawnSpec {
  std::vector<std::string> argv;  // not empty; argv[0] is looked up in PATH of env
  std::vector<std::string> env;  // "NAME=value"
  std::string cwd;  // empty: the home, or "/" where there is none
  Identity identity;
  std::optional<std::pair<uint16_t, uint16_t>> terminal;  // cols, rows
};

// A started child and our ends of its descriptors, all non-blocking.
struct Spawned {
  pid_t pid = -1;
  File in, out, err;  // of a terminal: `in` and `out` are its master, `err` is empty
};

// Starts the program in a session of its own, as its identity, with descriptors 0 to 2 only.
// A missing program is no error: the child says so on its stderr and exits 127 (126 when it cannot
// be executed). Throws Error: invalid at /cwd, or unavailable when the sandbox is out of processes.
Spawned spawn(const SpawnSpec& spec, const AgentSettings& settings);

// Gives every signal the disposition that a fresh process expects; then programs need only
// unblock_signals().
void reset_signals();
void unblock_signals();

}  // namespace sandgate::agent
