#pragma once
#include <sys/types.h>

#include <span>
#include <string_view>
#include <vector>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// Maximum number of descriptors in one packet.
constexpr size_t kMostPassed = 32;

// Sends a packet with descriptors attached over a packet-oriented unix socket. Returns as sendmsg
// does, EINVAL beyond kMostPassed; raises no SIGPIPE.
ssize_t send_with_fds(int socket, std::string_view text, std::span<const int> fds);
ssize_t send_with_fd(int socket, std::string_view text, int fd);  // -1: no descriptor

// Receives a packet, truncated to `size`, and appends its descriptors to `fds`. Returns as recvmsg
// does: 0 when the peer has closed. receive_with_fd() keeps the last descriptor only.
ssize_t receive_with_fds(int socket, char* text, size_t size, std::vector<Fd>& fds);
ssize_t receive_with_fd(int socket, char* text, size_t size, Fd& fd);

}  // namespace sandgate
