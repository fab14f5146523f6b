#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/zygote.hpp"

namespace sandgate {

// Starts sandboxes with the launcher program, which it keeps as a sealed copy in memory: no file
// that a sandbox could replace is ever executed outside. The program starts once for 64 launches,
// see Zygote. Thread-safe.
class Launcher {
 public:
  // Reads the statically linked launcher program. Throws StepError.
  explicit Launcher(const std::string& program_path);

  struct Inputs {
    LaunchSpec spec;
    int image = -1;  // O_PATH directory
    int listener = -1;
    int filter_calls = -1, filter_arguments = -1;
    int workspace = -1;  // -1: none
    // Both are called while the launcher starts, in this order.
    std::function<std::vector<Fd>()> make_cgroups;  // CgroupEntry::fds; null: none
    std::function<Fd()> make_disk;  // the disk's mount; null for a disk in memory
  };
  struct Launched {
    pid_t pid = 0;
    Fd pidfd;
    Fd disk;  // the disk's mount, empty if in memory; while open, the disk outlives the sandbox
    // The mount namespace, empty if it cannot be opened. While open, the end of the sandbox does
    // not wait for its mounts to be torn down.
    Fd mounts;
    uint64_t start_time = 0;  // field 22 of /proc/<pid>/stat; identifies the process with its pid
  };

  // Blocks until the sandbox's agent runs with its isolation complete: as long as the inputs take
  // to be made, and at most 10 s for each LaunchReport. Throws StepError, or whatever making them
  // throws; no process of the launch is left running then.
  Launched launch(Inputs inputs) const;

 private:
  void begin(const std::vector<int>& descriptors) const;
  // The current zygote, or a new one when it is used up or is `lost`.
  std::shared_ptr<const Zygote> zygote(const Zygote* lost) const;

  Fd program_;
  Fd parent_netns_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::shared_ptr<const Zygote> zygote_;
  mutable int launches_left_ = 0;
};

// Start time of a process in clock ticks since boot; 0 when there is no such process.
uint64_t process_start_time(pid_t pid);

}  // namespace sandgate
