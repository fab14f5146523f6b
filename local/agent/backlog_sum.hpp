#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sandgate::agent {

// An upper bound of the connections that may wait to be accepted at all listening sockets of a
// sandbox, from what their `listen` calls asked for. Sockets are not told apart: of the calls so
// far, as many as there are sockets, the largest, are taken for those that are still in force. No
// control group is charged for a connection that waits.
class BacklogSum {
 public:
  // As many as 64 sockets may hold where the kernel cuts each queue to 256.
  static constexpr uint32_t kMaxTotal = 64 * 256;

  // `most_at_one`: the length to which the kernel cuts the queue of one socket.
  explicit BacklogSum(uint32_t most_at_one) : most_at_one_(most_at_one) {}

  // Whether another socket may listen with `backlog`, which the kernel takes as unsigned.
  // `listening`: how many sockets listen now or are about to.
  bool has_room_for(uint32_t backlog, size_t listening);

  // A socket will listen with `backlog`.
  void add(uint32_t backlog);

 private:
  uint32_t most_at_one_;
  std::vector<uint32_t> backlogs_;  // descending
};

// The length to which the kernel cuts each queue in this network namespace. Linux 6.1 shows and
// takes it in the machine's first namespace only; a sandbox has the default then, 4096.
uint32_t most_connections_waiting();

}  // namespace sandgate::agent
