#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "providers/sandbox.hpp"

// Lines for /bin/sh that run a command in the background with its output in files, for vendors that
// answer only when a command has ended. They need coreutils or busybox.
namespace sandgate::shell {

// Runs a command with a process id to its end, with its output in files named after that id.
std::string spool_line(const Command& command);

// Prints the output after these byte offsets, at most kSpoolPiece of each stream, and the exit
// status when that is all. Waits up to five seconds for new output. May be repeated if its output
// was lost, also for the status: that is kept for five minutes, and then until a later spool_line.
std::string fetch_line(const std::string& process_id, uint64_t out, uint64_t err);
inline constexpr size_t kSpoolPiece = 192 << 10;

struct Fetched {
  std::string out, err;
  std::optional<int> status;
  bool known = true;  // false: no such process runs or has run
};
// Parses the output of a fetch_line; throws Error(unavailable) for unexpected output.
Fetched read_fetched(const std::string& printed);

}  // namespace sandgate::shell
