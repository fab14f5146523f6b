#include "local/namespaces/net.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "local/namespaces/step_error.hpp"
#include "local/namespaces/wall.hpp"

namespace sandgate {
namespace {

constexpr std::string_view kMostUnaccepted = "256";
// Bytes of options and control messages that a socket holds. Enough for 253 descriptors in one.
constexpr std::string_view kSocketOptions = "4096";
// Minimum, initial and maximum bytes of a receive buffer; it grows as the application reads. More
// would not make loopback faster.
constexpr std::string_view kReceiveBuffers = "4096 16384 1048576";

void set(const char* name, std::string_view value) {
  const Fd file(open(name, O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    const auto written = write(file.get(), value.data(), value.size());
}

}  // namespace

void bring_loopback_up() {
  Fd socket_fd = check_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "loopback socket");
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(ioctl(socket_fd.get(), SIOCSIFFLAGS, &request), "loopback up");
}

void bound_uncounted(const LaunchSpec& spec) {
  set("/proc/sys/net/core/somaxconn", kMostUnaccepted);
  set("/proc/sys/net/ipv4/tcp_rmem", kReceiveBuffers);
  if (stands(spec, "socket_options")) set("/proc/sys/net/core/optmem_max", kSocketOptions);
}

}  // namespace sandgate
