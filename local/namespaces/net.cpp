#include "local/namespaces/net.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>

#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/mount_calls.hpp"
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

Fd usual_procfs() { return Fd(open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

Fd own_procfs() {
  try {
    return NewFilesystem("proc").mount(0);
  } catch (const StepError&) {
    return usual_procfs();  // without privileges
  }
}

// The procfs through which to write the settings of a network. An instance of procfs keeps the
// directories of all network namespaces in one list, which the kernel walks for each new one: 0.7
// ms if there are a thousand. The zygote's copies inherit its instances.
const Fd& procfs_for(const Fd& network) {
  static const auto instances = [] {
    std::array<Fd, 16> made;
    std::ranges::generate(made, own_procfs);
    return made;
  }();
  struct stat status {};
  check(fstat(network.get(), &status), "look at new network");
  return instances[status.st_ino % instances.size()];
}

// `setting`: such as "core/somaxconn".
void set(const Fd& procfs, const std::string& setting, std::string_view value) {
  const Fd file(openat(procfs.get(), ("sys/net/" + setting).c_str(), O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    const auto written = write(file.get(), value.data(), value.size());
}

void limit_buffers(const Fd& procfs, const LaunchSpec& spec) {
  set(procfs, "core/somaxconn", kMaxUnaccepted);
  set(procfs, "ipv4/tcp_rmem", kReceiveBuffers);
  if (is_applied(spec, "socket_options")) set(procfs, "core/optmem_max", kSocketOptions);
  if (is_applied(spec, "transmit_timestamps")) set(procfs, kTransmitTimestamps, "0");
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

void limit_network_buffers(const LaunchSpec& spec) { limit_buffers(usual_procfs(), spec); }

bool makes_own_network(const LaunchSpec& spec) {
  return (spec.single_id || !is_applied(spec, "network_owner")) && is_applied(spec, "network");
}

Fd make_network(const LaunchSpec& spec) {
  const Fd own = check_fd(open(kOwnNetns, O_RDONLY | O_CLOEXEC), "open own network");
  check(setns(kParentNetnsFd, CLONE_NEWNET), "enter parent netns");
  Fd made;
  try {
    check(unshare(CLONE_NEWNET), "network namespace");
    made = check_fd(open(kOwnNetns, O_RDONLY | O_CLOEXEC), "open new network");
    bring_loopback_up();
    const Fd& procfs = procfs_for(made);
    limit_buffers(procfs, spec);
    set(procfs, "ipv4/ip_unprivileged_port_start", "0");
  } catch (const StepError&) {
    setns(own.get(), CLONE_NEWNET);
    throw;
  }
  check(setns(own.get(), CLONE_NEWNET), "return to own network");
  return made;
}

}  // namespace sandgate
