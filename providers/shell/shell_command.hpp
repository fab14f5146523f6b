#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/error.hpp"
#include "providers/sandbox.hpp"

// Shell text that gives a command what Command promises where the backend does not: a process
// group, a time limit that kills the whole group, and signals by process id. The sandbox needs only
// a POSIX shell; setsid is used if present.
namespace sandgate::shell {

// Quotes a word for the shell. A NUL byte ends the word, as in any argument.
std::string quote(std::string_view word);
std::string quote(const std::vector<std::string>& words);

// An `export` of each variable, with `end` behind it.
std::string exports_of(const std::map<std::string, std::string>& env, std::string_view end);

// Returns the arguments that run `command` under /bin/sh. The caller sets the environment, the
// directory and a terminal. signal_line finds the command by its process_id.
std::vector<std::string> argv_of(const Command& command);
// The same as one line that also sets the environment and the directory. Exits with kNoDirectory
// before running anything if the directory does not exist.
std::string line_of(const Command& command);
inline constexpr int kNoDirectory = 98;

// A line that signals the process group of a command started by argv_of or line_of. Exits with 0,
// or with 1 if the process no longer exists.
std::string signal_line(const std::string& process_id, int number);

// storing_status: runs `line` in the account's home and stores its exit status in a file of that
// name ([a-z0-9]). stored_status_line: prints and removes the status; fails if there is none. For
// vendors that lose exit statuses.
std::string storing_status(const std::string& line, const std::string& name);
std::string stored_status_line(const std::string& name);
// A line that sets the terminal size of such a command. Exits with 1 if the process no longer
// exists, or else with the status of stty.
std::string resize_line(const std::string& process_id, PtySize size);

// Interprets the shell's exit status as a vendor tells it: a negative one means that a signal ended
// the supervisor, and more than eight bits are none.
ProcessExit exit_of(int status, const Command& command, std::chrono::milliseconds duration);

// What is thrown for what a line printed if that is not what it prints.
Error unexpected_output();

}  // namespace sandgate::shell
