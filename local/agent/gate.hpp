#pragma once
#include "local/agent/loop.hpp"

namespace sandgate::agent {

// Limits kernel objects of a sandbox that no control group accounts for. At a time a sandbox may
// have 64 netlink sockets (plenty for programs that list network interfaces), 64 listening TCP
// sockets (each holds a queue of unaccepted connections) and 256 seccomp filters over all its
// threads, not counting those it started with. A call beyond a limit fails with EMFILE, as does
// every call while the objects cannot be counted.
class Gate {
 public:
  // `requests`: the seccomp notification descriptor that reports each guarded call; owned. -1: no
  // call is guarded.
  Gate(Loop& loop, int requests);

 private:
  void answer();

  Loop& loop_;
  Fd requests_;
  Loop::Id watch_ = 0;
};

}  // namespace sandgate::agent
