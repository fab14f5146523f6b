#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "local/agent/files/file.hpp"
#include "local/agent/pausable_clock.hpp"
#include "local/agent/processes/identity.hpp"

namespace sandgate::agent {

struct SpawnSpec {
  std::vector<std::string> argv;  // not empty; argv[0] is looked up in PATH of env
  std::vector<std::string> env;  // "NAME=value"
  std::string cwd;  // empty: the home, or "/" where there is none
  Identity identity;
  std::optional<std::pair<uint16_t, uint16_t>> terminal;  // cols, rows
};

// A started child and the agent's ends of its descriptors, all non-blocking.
struct Spawned {
  pid_t pid = -1;
  Fd in, out, err;  // of a terminal: `in` and `out` are its master, `err` is empty
};

// Starts the program in a session of its own, as its identity, with descriptors 0 to 2 only.
// A missing program is no error: the child reports it on stderr and exits with 127 (126 when it
// cannot be executed). Throws Error: invalid at /cwd for an unusable directory, forbidden when the
// identity cannot be taken, quota_exceeded at the sandbox's limit of processes, unavailable when
// other resources are short or the start takes over 5 s of the clock.
Spawned spawn(const SpawnSpec& spec, const AgentSettings& settings, PausableClock& clock);

// A child forked before its program is known, so that the sandbox's first program does not wait for
// a fork. Until then it keeps the agent's rights and could be stopped by root inside: it may exist
// only while no program of the tenant has run.
class PreforkedChild {
 public:
  // Its name among the processes, by which the node knows that it still waits.
  static constexpr const char* kName = "first-program";
  // `settings` outlives it; env and allow_root may still change. Throws as spawn().
  explicit PreforkedChild(const AgentSettings& settings);
  ~PreforkedChild();  // ends and reaps the child unless it was started
  PreforkedChild(const PreforkedChild&) = delete;
  PreforkedChild& operator=(const PreforkedChild&) = delete;

  // As spawn(). Empty: it cannot run this program, because that needs a terminal or the child died.
  std::optional<Spawned> start(const SpawnSpec& spec, PausableClock& clock);

  pid_t pid() const { return child_.pid; }
  void reaped() { child_.pid = -1; }  // it died before start(), and its status was taken

 private:
  Spawned child_;
  Fd report_, spec_pipe_;
};

// Resets every signal to its default disposition, so that a child only needs unblock_signals().
void reset_signals();
void unblock_signals();

}  // namespace sandgate::agent
