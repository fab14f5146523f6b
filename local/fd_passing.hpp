#pragma once
#include <sys/types.h>

#include <span>
#include <string_view>
#include <vector>

#include "gateway/core/fd.hpp"

// Descriptors that accompany bytes over a unix socket (SCM_RIGHTS).
namespace sandgate {

// Maximum number of descriptors in one message.
constexpr size_t kMaxPassed = 32;

// Return as sendmsg does, EINVAL beyond kMaxPassed; repeated after a signal; raise no SIGPIPE.
ssize_t send_with_fds(int socket, std::string_view text, std::span<const int> fds);
ssize_t send_with_fd(int socket, std::string_view text, int fd);  // -1: no descriptor

struct FdMessage {
  ssize_t size = -1;  // as recvmsg returns it, with errno: 0 when the peer has closed
  std::vector<Fd> fds;
  bool cut = false;  // the packet was longer than the room for it
  bool fds_lost = false;  // some found no room, or the process has no free descriptors

  Fd first_fd() { return fds.empty() ? Fd() : std::move(fds.front()); }
};
// `flags` as for recvmsg. Repeated after a signal.
FdMessage receive_with_fds(int socket, std::span<char> into, int flags = 0);

}  // namespace sandgate
