#include "local/egress/socket_buffers.hpp"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

namespace sandgate::egress {
namespace {

// The kernel doubles it, for what it needs beside the bytes.
constexpr int kLimited = 64 << 10;
constexpr int kLockNone = 0;

void set_socket_option(Socket& socket, int option, int value) {
  setsockopt(socket.native_handle(), SOL_SOCKET, option, &value, sizeof value);
}

}  // namespace

size_t buffered_bytes(Socket& socket) {
  std::array<uint32_t, SK_MEMINFO_VARS> held{};
  socklen_t size = sizeof held;
  getsockopt(socket.native_handle(), SOL_SOCKET, SO_MEMINFO, held.data(), &size);
  return size_t{held[SK_MEMINFO_RMEM_ALLOC]} + held[SK_MEMINFO_WMEM_QUEUED];
}

void limit_buffers(Socket& socket) {
  set_socket_option(socket, SO_RCVBUF, kLimited);
  set_socket_option(socket, SO_SNDBUF, kLimited);
}

void free_buffers(Socket& socket) { set_socket_option(socket, SO_BUF_LOCK, kLockNone); }

}  // namespace sandgate::egress
