#pragma once
#include <sys/types.h>

#include <span>

#include "gateway/core/fd.hpp"

namespace sandgate {

// A running process of the launcher program that forks a launcher per request, so that the cost of
// starting a program (half a millisecond; in a virtual machine mostly CPUID traps) is paid once for
// many. Its copies share one address-space layout.
class Zygote {
 public:
  // Starts `program`, an open executable. The networks of its sandboxes are made from
  // `parent_netns`; if negative, from this process's own. Throws StepError.
  Zygote(int program, int parent_netns);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;
  // Waits for the zygote to exit; it starts all requested launchers first.
  ~Zygote();

  // Starts a launcher, as a child of this process, with these descriptors at kSpecFd and following.
  // The launcher reports over kReportFd; when the zygote dies first, that socket has no peer.
  // Throws StepError when the zygote is gone. Thread-safe.
  void launch(std::span<const int> descriptors) const;

 private:
  Fd control_;
  pid_t pid_ = 0;
};

}  // namespace sandgate
