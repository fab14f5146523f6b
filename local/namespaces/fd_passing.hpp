#pragma once
#include <sys/types.h>

#include <span>
#include <string_view>
#include <vector>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// As many descriptors as go with one packet.
constexpr size_t kMostPassed = 32;

// One packet over a unix socket of packets, with descriptors beside it. Returns as sendmsg does; a
// peer that is gone raises no signal.
ssize_t send_with_fds(int socket, std::string_view text, std::span<const int> fds);
ssize_t send_with_fd(int socket, std::string_view text, int fd);  // -1: none

// The next packet, cut at `size`; `fds` gets the descriptors that came with it. Returns as recvmsg
// does: 0 when the peer is gone.
ssize_t receive_with_fds(int socket, char* text, size_t size, std::vector<Fd>& fds);
ssize_t receive_with_fd(int socket, char* text, size_t size, Fd& fd);

}  // namespace sandgate
