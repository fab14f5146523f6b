#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "providers/sandbox.hpp"

// Commands as text for a POSIX shell, for backends that know less about processes than Command
// says: a group of its own, a time limit that ends all of it, signals by our process id. Only the
// shell, and setsid where there is one, are needed in the sandbox.
namespace sandgate::shell {

// One word for a shell, whatever its bytes (a NUL ends it, as in any argument).
std::string quote(std::string_view word);
std::string quote(const std::vector<std::string>& words);

// Arguments for a program start: /bin/sh and what makes it run `command`. The environment, the
// directory and a terminal are the caller's to set. process_id names it for signal_line.
std::vector<std::string> argv_of(const Command& command);
// The same as one line, with the environment and the directory. A directory that is not there ends
// it with exit code kNoDirectory before anything runs.
std::string line_of(const Command& command);
inline constexpr int kNoDirectory = 98;

// A line that signals the group of a command started by argv_of or line_of; it ends with 0, or with
// 1 when there is no such process any more.
std::string signal_line(const std::string& process_id, int number);

// A line that gives the terminal of a command another size, where there is stty; it ends with 1
// when there is no such process, and with another status than 0 when there is no such terminal.
std::string resize_line(const std::string& process_id, PtySize size);

// What the shell's status says about the command.
ProcessExit exit_of(int status, const Command& command, std::chrono::milliseconds duration);

}  // namespace sandgate::shell
