#pragma once
#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace sandgate {

// Runs a program without standard input and hands its output, both streams, to `line`: a line at a
// time, without control characters, 4 KiB of it at most. Returns its exit code, 128 when a signal
// ended it. After `patience`, or within a second of `stop`, it is killed with all it started.
// Throws Error: unavailable when it cannot be run or was stopped, timeout.
int run_program(const std::vector<std::string>& arguments, std::chrono::seconds patience,
                const std::function<void(const std::string&)>& line,
                const std::stop_token& stop = {});

}  // namespace sandgate
