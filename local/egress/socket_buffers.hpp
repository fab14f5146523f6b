#pragma once
#include <cstddef>

#include "local/egress/stream.hpp"

namespace sandgate::egress {

// What the kernel holds for a socket: bytes that were received and not read, and bytes that were
// sent and not acknowledged. These functions ignore closed sockets.

// Returns the memory held, in bytes.
size_t buffered_bytes(Socket& socket);
// From now on no more is taken while one of its buffers holds 128 KiB. What is in them stays.
void limit_buffers(Socket& socket);
// The kernel sizes the buffers by itself again.
void free_buffers(Socket& socket);

}  // namespace sandgate::egress
