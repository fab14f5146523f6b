#include "local/node/server/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstring>

#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr timeval kTimeout{2, 0};

Fd open_parent(const std::string& directory) {
  return check_fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
                  "open socket directory");
}

sockaddr_un address_below(const Fd& parent, const std::string& name) {
  const std::string path = fd_path(parent) + "/" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw StepError("socket name", ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Returns the pid of the sender of the next bytes; 0 when none arrive.
pid_t next_sender(int socket_fd) {
  char bytes[256];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  iovec part{bytes, sizeof bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC) <= 0) return 0;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_CREDENTIALS) return 0;
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

pid_t server_of(const sockaddr_un& address, std::string_view question) {
  const Fd asker = check_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  setsockopt(asker.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  setsockopt(asker.get(), SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
  setsockopt(asker.get(), SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof kTimeout);
  if (connect(asker.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      send(asker.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0)
    return 0;
  return next_sender(asker.get());
}

}  // namespace

Fd listen_on(const std::string& directory, const std::string& name, uid_t owner) {
  const Fd parent = open_parent(directory);
  const sockaddr_un address = address_below(parent, name);
  unlinkat(parent.get(), name.c_str(), 0);
  Fd listener = check_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  check(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "bind socket");
  // Connections are refused until listen(), so setting owner and mode here is not a race.
  check(fchownat(parent.get(), name.c_str(), owner, static_cast<gid_t>(-1), 0), "socket owner");
  check(fchmodat(parent.get(), name.c_str(), 0600, 0), "socket mode");
  check(listen(listener.get(), 128), "listen");
  return listener;
}

// Asks twice: if the same pid answers before and after pidfd_open, the pid was not reused between.
Fd open_server_of(const std::string& directory, const std::string& name,
                  std::string_view question) {
  const Fd parent = open_parent(directory);
  const sockaddr_un address = address_below(parent, name);
  const pid_t pid = server_of(address, question);
  if (pid <= 0) return {};
  Fd pidfd = open_pidfd(pid);
  if (server_of(address, question) != pid) pidfd.reset();
  return pidfd;
}

}  // namespace sandgate
