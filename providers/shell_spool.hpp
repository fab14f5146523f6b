#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "providers/sandbox.hpp"

// Lines for /bin/sh that let a command run on by itself while its outputs wait in files of the
// sandbox, for vendors that answer only when a command has ended. They need coreutils or busybox.
namespace sandgate::shell {

// Runs a command that has a process id to its end, its outputs in files of that name.
std::string spool_line(const Command& command);

// Prints what came after these numbers of bytes, at most kSpoolPiece of each output, and the exit
// status once that is all; waits up to five seconds for something to print. The files go with the
// status.
std::string fetch_line(const std::string& process_id, uint64_t out, uint64_t err);
inline constexpr size_t kSpoolPiece = 192 << 10;

struct Fetched {
  std::string out, err;
  std::optional<int> status;
  bool known = true;  // false: nothing of that name runs or ran here
};
// What a fetch_line printed; throws Error(unavailable) for what none prints.
Fetched read_fetched(const std::string& printed);

}  // namespace sandgate::shell
