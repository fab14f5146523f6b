#pragma once
#include "local/agent/loop.hpp"

namespace sandgate::agent {

// Lets the sandbox have 64 netlink sockets at a time, which is plenty for programs that ask for
// network interfaces: what such a socket holds for its reader is memory of the machine that no
// control group counts. One more is EMFILE, and so is each when they cannot be counted.
class NetlinkGate {
 public:
  // `requests`: of the seccomp filter, one for each such socket somebody wants; owned. -1: nobody
  // has to ask.
  NetlinkGate(Loop& loop, int requests);

 private:
  void answer();

  Loop& loop_;
  File requests_;
  Loop::Id watch_ = 0;
};

}  // namespace sandgate::agent
