#pragma once
#include <linux/seccomp.h>

#include <vector>

#include "local/agent/backlog_sum.hpp"
#include "local/agent/loop.hpp"

namespace sandgate::agent {

// Limits kernel objects of a sandbox that no control group accounts for. At a time a sandbox may
// have 64 netlink sockets (plenty for programs that list network interfaces), 64 listening TCP
// sockets with room for 16384 unaccepted connections in all (see BacklogSum) and 256 seccomp
// filters over all its threads, not counting those it started with; and it may send with MSG_MORE,
// which lets a UDP socket gather 64 KiB, while it has at most 512 sockets of any kind. A call
// beyond a limit fails with EMFILE, as does every call while the objects cannot be counted. A call
// that was let through counts as an object of its own until its thread has certainly made it. One
// that only such calls leave no room for waits up to a second.
class SyscallLimiter {
 public:
  // `requests`: the seccomp notification descriptor that reports each guarded call; owned. -1: no
  // call is guarded.
  SyscallLimiter(Loop& loop, int requests);

 private:
  // A call let through. Of each kind there are fewer than there may be objects.
  struct Admitted {
    pid_t thread;
    int system_call;
    int64_t ticks;  // processor time of the thread before
  };

  void receive();
  void decide();
  void answer(bool passes);
  int admitted(int system_call) const;
  int room_for_pending();

  Loop& loop_;
  Fd requests_;
  Loop::Id watch_ = 0;
  seccomp_notif pending_{};  // the request to be answered; no other is received meanwhile
  Loop::Instant deadline_;  // when that is refused at the latest
  std::vector<Admitted> admitted_;
  BacklogSum backlogs_{most_connections_waiting()};
};

}  // namespace sandgate::agent
