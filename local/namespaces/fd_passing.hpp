#pragma once
#include <sys/types.h>

#include <string_view>

#include "local/namespaces/fd.hpp"

namespace sandgate {

// One packet over a unix socket of packets, with a descriptor beside it when `with_fd` is not -1.
// Returns as sendmsg does; a peer that is gone raises no signal.
ssize_t send_with_fd(int socket, std::string_view text, int with_fd);

// The next packet, cut at `size`; `fd` gets the descriptor that came with it. Returns as recvmsg
// does: 0 when the peer is gone.
ssize_t receive_with_fd(int socket, char* text, size_t size, Fd& fd);

}  // namespace sandgate
