#pragma once
#include "local/agent/loop.hpp"

namespace sandgate::agent {

// Bounds what the kernel holds for a sandbox and charges to none of its control groups. At a time
// it has 64 netlink sockets, which is plenty for programs that ask for network interfaces, 64
// listening TCP sockets, whose connections nobody may have accepted yet, and in all its threads
// together 256 seccomp filters beside those it started with. One more is EMFILE, and so is each
// when they cannot be counted.
class Gate {
 public:
  // `requests`: of the seccomp filter, one for each of these that somebody wants; owned. -1: nobody
  // has to ask.
  Gate(Loop& loop, int requests);

 private:
  void answer();

  Loop& loop_;
  File requests_;
  Loop::Id watch_ = 0;
};

}  // namespace sandgate::agent
