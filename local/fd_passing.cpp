#include "local/fd_passing.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace sandgate {
namespace {

std::vector<Fd> fds_of(msghdr& message) {
  std::vector<Fd> fds;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(c) + i * sizeof(int), sizeof received);
      fds.emplace_back(received);
    }
  }
  return fds;
}

}  // namespace

ssize_t send_with_fds(int socket, std::string_view text, std::span<const int> fds) {
  if (fds.size() > kMaxPassed) return errno = EINVAL, -1;
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPassed * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  ssize_t sent = -1;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t send_with_fd(int socket, std::string_view text, int fd) {
  return send_with_fds(socket, text, {&fd, fd >= 0 ? size_t{1} : size_t{0}});
}

FdMessage receive_with_fds(int socket, std::span<char> into, int flags) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPassed * sizeof(int))];
  iovec part{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  FdMessage received;
  do received.size = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (received.size < 0 && errno == EINTR);
  if (received.size < 0) return received;
  received.fds = fds_of(message);
  received.cut = message.msg_flags & MSG_TRUNC;
  received.fds_lost = message.msg_flags & MSG_CTRUNC;
  return received;
}

}  // namespace sandgate
