#include "local/node/listener.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

Fd listen_on(const std::string& directory, const std::string& name, uid_t owner) {
  Fd parent =
      check_fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open socket directory");
  std::string path = "/proc/self/fd/" + std::to_string(parent.get()) + "/" + name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw StepError("socket name", ENAMETOOLONG);
  std::memcpy(address.sun_path, path.data(), path.size());
  unlinkat(parent.get(), name.c_str(), 0);
  Fd listener = check_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  check(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind socket");
  // Nobody can connect before listen, so its owner and mode are set in time.
  check(fchownat(parent.get(), name.c_str(), owner, static_cast<gid_t>(-1), 0), "socket owner");
  check(fchmodat(parent.get(), name.c_str(), 0600, 0), "socket mode");
  check(listen(listener.get(), 128), "listen");
  return listener;
}

}  // namespace sandgate
