#pragma once
#include <sys/types.h>

#include <span>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// A process of the launcher program that has started, and becomes a launcher by being copied: what
// starting a program costs (half a millisecond, of which a virtual machine pays most for asking its
// processor what it can) is paid once for many. Its copies have their memory in the same places.
class Zygote {
 public:
  // Starts `program`. Throws StepError.
  explicit Zygote(int program);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;
  // What it was asked for is begun before it ends.
  ~Zygote();

  // Begins a launcher, our own child, that finds these descriptors at kSpecFd and following ones.
  // It says over kReportFd how it goes; a zygote that ends before it has begun leaves that
  // socket without a peer. Throws StepError when there is no zygote any more. Thread-safe.
  void launch(std::span<const int> descriptors) const;

 private:
  Fd control_;
  pid_t pid_ = 0;
};

}  // namespace sandgate
