#pragma once
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sandgate {

struct Interrupted : std::runtime_error {
  explicit Interrupted(int number) : std::runtime_error("interrupted"), number(number) {}
  int number;  // the signal
};

// Runs a program without standard input and passes its output, both streams, to `line`: one line at
// a time, without control characters, truncated to 4 KiB. Returns its exit code, or 128 when a
// signal ended it. Its process group is killed after `timeout`, and when this process is asked to
// end by SIGINT, SIGTERM or SIGHUP. Throws Interrupted by these; Error: unavailable when it cannot
// be run, timeout. No other thread may take the signals.
int run_program(const std::vector<std::string>& arguments, std::chrono::seconds timeout,
                const std::function<void(const std::string&)>& line);

}  // namespace sandgate
