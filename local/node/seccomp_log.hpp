#pragma once
#include <string>
#include <utility>

#include "local/node/probe.hpp"

namespace sandgate {

// The machine's setting of which answers of system call filters are logged. A program may install a
// filter whose every answer is: two hundred thousand lines a second in the log of the machine,
// which pushes all others out of the kernel's, written by threads that no control group limits.
// Only the ends of programs by a filter stay, as rare as their starts.
class SeccompLog {
 public:
  enum class Outcome { no_need, reduced, refused };

  explicit SeccompLog(std::string path = "/proc/sys/kernel/seccomp/actions_logged")
      : path_(std::move(path)) {}

  Outcome reduce() const;
  ProbeResult probe() const;

 private:
  const std::string path_;
};

// Reduces it if that is needed, and logs it. It is never undone.
void reduce_seccomp_log();

}  // namespace sandgate
