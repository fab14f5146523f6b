#include "local/namespaces/net.hpp"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

void bring_loopback_up() {
  Fd socket_fd = check_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "loopback socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(ioctl(socket_fd.get(), SIOCSIFFLAGS, &request), "loopback up");
}

}  // namespace sandgate
