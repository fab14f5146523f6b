#include "local/egress/control_channel.hpp"

#include <sys/socket.h>

#include <cstring>

namespace sandgate::egress {
namespace {

constexpr size_t kMaxPacket = 512 * 1024, kMaxDescriptors = 8;

}  // namespace

void send_control(int socket, const Json& body, const std::vector<int>& fds) {
  std::string text = body.dump();
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty() && fds.size() <= kMaxDescriptors) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
  }
  while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) throw Error(ErrorCode::unavailable, "the way out of sandboxes is closed");
  }
}

std::optional<ControlMessage> receive_control(int socket) {
  std::string text(kMaxPacket, '\0');
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  ControlMessage received;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if (got <= 0 || (message.msg_flags & MSG_TRUNC)) return std::nullopt;
  received.lost = message.msg_flags & MSG_CTRUNC;
  if (received.lost) received.fds.clear();
  text.resize(static_cast<size_t>(got));
  try {
    received.body = parse_json(text);
  } catch (const Error&) {
    return std::nullopt;
  }
  return received;
}

Json network_json(const NetworkPolicy& network) {
  return {{"default", network.fallback == NetworkDefault::allow ? "allow" : "deny"},
          {"allow", network.allow}};
}

NetworkPolicy network_from(const Json& json) {
  NetworkPolicy network;
  if (json.at("default") == "allow") network.fallback = NetworkDefault::allow;
  json.at("allow").get_to(network.allow);
  return network;
}

}  // namespace sandgate::egress
