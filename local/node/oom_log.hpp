#pragma once
#include <string>
#include <utility>

#include "local/node/probe.hpp"

namespace sandgate {

// The machine's setting of whether the kernel lists all processes of a control group that is out of
// memory, a line for each, whenever it ends one of them. A sandbox of 512 processes that does so
// again and again writes a thousand lines a second, which push all others out of the kernel's log.
class OomLog {
 public:
  enum class Outcome { no_need, reduced, refused };

  explicit OomLog(std::string path = "/proc/sys/vm/oom_dump_tasks") : path_(std::move(path)) {}

  Outcome reduce() const;
  ProbeResult probe() const;

 private:
  bool lists_tasks() const;

  const std::string path_;
};

// Reduces it if that is needed, and logs it. It is never undone.
void reduce_oom_log();

}  // namespace sandgate
