#pragma once
#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "gateway/supervisor/account.hpp"

namespace sandgate {

// The descriptor of the file, in memory, that a child shares with its supervisor. The supervisor
// writes settings (JSON); the child reads them and empties the file. Then the supervisor may write
// new ones, or the child the reason why it cannot start (exit_reason).
constexpr int kSettingsDescriptor = 3;
// The exit code of a child that cannot start, as with a bad setting or a port in use.
constexpr int kCannotStart = 2;

// Describes a process that the supervisor keeps running.
struct ChildSpec {
  std::string name;  // for the log
  std::vector<std::string> argv;  // argv[0] is the program
  std::vector<std::string> environment;
  SystemAccount account;
  std::string settings;  // readable at kSettingsDescriptor; kept out of argv and the environment
  int stop_signal = SIGTERM;
  // Whether the child reloads on SIGHUP. It starts with SIGHUP blocked, so that an early signal
  // stays pending, and must receive it by sigwait.
  bool reloads = false;
  std::function<void()> before_start;  // called before each start, if set; must not throw
};

struct StartedChild {
  pid_t pid = 0;
  Fd settings;  // the file with its settings; empty without any
};
// Starts the child in its own session. If this process dies, the kernel sends it `stop_signal`.
// Throws Error(unavailable).
StartedChild start(const ChildSpec& spec);
// Writes new settings to the file of a child that has read the previous ones. Returns false,
// without writing, if it has not read them yet. Throws Error(unavailable).
bool replace_settings(const Fd& file, const std::string& settings);
// Returns the final error message of a child that ended, as one short line; "" if none.
std::string exit_reason(const Fd& settings);

// Runs a program as the account until it ends. Returns its exit code, or 128+n after signal n.
// `input` is its standard input. Its output is logged if it fails, otherwise dropped.
int run_to_end(const ChildSpec& spec, const std::string& input);

}  // namespace sandgate
