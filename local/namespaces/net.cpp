#include "local/namespaces/net.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <tuple>

#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/transmit_timestamps.hpp"

namespace sandgate {
namespace {

constexpr const char* kOwnNetns = "/proc/self/ns/net";
constexpr std::string_view kMaxUnaccepted = "256";
// Bytes of options and control messages that a socket holds. Enough for 253 descriptors in one.
constexpr std::string_view kSocketOptions = "4096";
// Minimum, initial and maximum bytes of a receive buffer; it grows as the application reads. More
// would not make loopback faster.
constexpr std::string_view kReceiveBuffers = "4096 16384 1048576";

// glibc answers AI_ADDRCONFIG with IPv4 addresses only if some interface has one that is not
// 127.0.0.1. This one is in 127/8, where the loopback's routes lead anyway.
constexpr uint32_t kSecondAddress = 0x7FFFFFFE;  // 127.255.255.254

ifreq loopback(const char* label) {
  ifreq request{};
  std::strcpy(request.ifr_name, label);
  return request;
}

void set(const char* name, std::string_view value) {
  const Fd file(open(name, O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    const auto written = write(file.get(), value.data(), value.size());
}

}  // namespace

void bring_loopback_up() {
  Fd socket_fd = check_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "loopback socket");
  ifreq request = loopback("lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(ioctl(socket_fd.get(), SIOCSIFFLAGS, &request), "loopback up");
  // Only now, since the kernel gives 127.0.0.1 to a loopback without any address. If this one is
  // refused, some programs find no names, which is no reason not to start.
  request = loopback("lo:1");
  sockaddr_in second{.sin_family = AF_INET, .sin_addr = {htonl(kSecondAddress)}};
  std::memcpy(&request.ifr_addr, &second, sizeof second);
  std::ignore = ioctl(socket_fd.get(), SIOCSIFADDR, &request);
}

void limit_network_buffers(const LaunchSpec& spec) {
  set("/proc/sys/net/core/somaxconn", kMaxUnaccepted);
  set("/proc/sys/net/ipv4/tcp_rmem", kReceiveBuffers);
  if (is_applied(spec, "socket_options")) set("/proc/sys/net/core/optmem_max", kSocketOptions);
  if (is_applied(spec, "transmit_timestamps")) set(kTransmitTimestamps, "0");
}

bool makes_own_network(const LaunchSpec& spec) {
  return (spec.single_id || !is_applied(spec, "network_owner")) && is_applied(spec, "network");
}

Fd make_network(const LaunchSpec& spec) {
  const Fd own = check_fd(open(kOwnNetns, O_RDONLY | O_CLOEXEC), "open own network");
  check(setns(kParentNetnsFd, CLONE_NEWNET), "enter parent netns");
  Fd made;
  try {
    check(unshare(CLONE_NEWNET), "network namespace");
    bring_loopback_up();
    limit_network_buffers(spec);
    set("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    made = check_fd(open(kOwnNetns, O_RDONLY | O_CLOEXEC), "open new network");
  } catch (const StepError&) {
    setns(own.get(), CLONE_NEWNET);
    throw;
  }
  check(setns(own.get(), CLONE_NEWNET), "return to own network");
  return made;
}

}  // namespace sandgate
