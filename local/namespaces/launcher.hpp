#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "local/namespaces/fd.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/zygote.hpp"

namespace sandgate {

// The program that makes sandboxes, as a sealed copy in memory: nothing on disk that a sandbox
// could reach or replace is ever executed outside it. It starts once for so many launches, see
// Zygote.
class Launcher {
 public:
  // Reads the static launcher program. Throws StepError.
  explicit Launcher(const std::string& program_path);

  struct Inputs {
    LaunchSpec spec;
    int image = -1;  // O_PATH directory
    int listener = -1;
    int filter_calls = -1, filter_arguments = -1;
    int workspace = -1;  // -1: none
    std::vector<Fd> cgroups;
    // Makes the disk's mount, while the launcher starts; empty: the disk is in memory.
    std::function<Fd()> make_disk;
  };
  struct Launched {
    pid_t pid = 0;
    Fd pidfd;
    Fd disk;  // its disk's mount, none when in memory: while held, the disk outlives the sandbox
    // Its mount namespace, if it may be had: while held, the end of the sandbox does not wait for
    // the taking down of its mounts.
    Fd mounts;
    uint64_t start_time = 0;  // field 22 of /proc/<pid>/stat: with the pid it names one process
  };

  // Blocks until the sandbox's agent runs behind all its walls: for as long as make_disk takes, and
  // at most 10 s for each of the launcher's two reports. Throws StepError, or what make_disk
  // throws; then nothing of it is left running.
  Launched launch(Inputs inputs) const;

 private:
  void begin(const std::vector<int>& descriptors) const;
  // The one in use, or the next; never `lost`.
  std::shared_ptr<const Zygote> zygote(const Zygote* lost) const;

  Fd program_;
  Fd nursery_;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::shared_ptr<const Zygote> zygote_;
  mutable int launches_left_ = 0;
};

// Start time of a process in clock ticks since boot; 0 when there is no such process.
uint64_t process_start_time(pid_t pid);

}  // namespace sandgate
