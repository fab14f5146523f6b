#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace sandgate {

// Runs a program without standard input and passes its output, both streams, to `line`: one line at
// a time, without control characters, truncated to 4 KiB. Returns its exit code, or 128 when a
// signal ended it. After `timeout` its process group is killed. Throws Error: unavailable when it
// cannot be run, timeout.
int run_program(const std::vector<std::string>& arguments, std::chrono::seconds timeout,
                const std::function<void(const std::string&)>& line);

}  // namespace sandgate
