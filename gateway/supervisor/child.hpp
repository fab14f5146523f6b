#pragma once
#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "gateway/supervisor/account.hpp"

namespace sandgate {

// Where a child finds its settings, and leaves its last words in their place.
constexpr int kSettingsDescriptor = 3;

// A process the supervisor keeps running.
struct ChildSpec {
  std::string name;  // in the log
  std::vector<std::string> argv;  // argv[0] is the program
  std::vector<std::string> environment;
  SystemAccount account;
  std::string settings;  // readable at kSettingsDescriptor; not in its argv or environ
  int stop_signal = SIGTERM;
  // On SIGHUP, which would end a program that does not know it. It is started with that signal
  // blocked, so that one which comes before it listens waits for it; it must take it by sigwait.
  bool reloads = false;
};

struct StartedChild {
  pid_t pid = 0;
  int settings = -1;  // the file it has its settings from, to be closed; -1: none
};
// Starts the child in a session of its own; the kernel ends it with `stop_signal` when this
// process dies. Throws Error(unavailable).
StartedChild start(const ChildSpec& spec);
// Puts other settings in the place of those a child has taken out of its file. False: it has not
// taken them yet, and nothing was done. Throws Error(unavailable).
bool replace_settings(int file, const std::string& settings);
// What a child that ended left in place of its settings: one line, short; "" when nothing.
std::string last_words(int settings);

// Runs a program to its end as the account and returns its exit code (128+n when signalled).
// `input` is its standard input; its output is dropped unless it fails, then logged.
int run_to_end(const ChildSpec& spec, const std::string& input);

}  // namespace sandgate
