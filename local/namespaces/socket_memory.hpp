#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sandgate {

// What the sockets of a machine hold together in buffers of one protocol, in bytes, and the
// kernel's limits for that: beyond `pressure` it slows all of them down, at `most` it refuses
// memory to all.
struct SocketMemory {
  int64_t held = 0, pressure = 0, most = 0;  // limits of 0 are unknown

  // Whether so little is left that somebody must give way: half of what is beyond the pressure.
  bool is_short() const { return most > 0 && held > pressure + (most - pressure) / 2; }
};
SocketMemory tcp_memory(const std::string& proc = "/proc");
SocketMemory udp_memory(const std::string& proc = "/proc");

// What a sandbox may hold in buffers of all its sockets where its memory limit does not count them:
// a quarter of its memory, and no more than a quarter of what TCP has on this machine (0: unknown).
int64_t socket_share(int64_t memory_mib, int64_t most_of_tcp);

// Who gives way: the index of the one that holds most, if that is at least `least`.
std::optional<size_t> largest_holder(const std::vector<int64_t>& held, int64_t least);

}  // namespace sandgate
