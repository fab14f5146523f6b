#include "local/node/egress/egress_process.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>

#include "local/egress/egress.hpp"
#include "local/namespaces/spawn_actions.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr int kControlBuffer = 4 << 20;

pid_t spawn_self(const SpawnActions& actions) {
  return actions.spawn("/proc/self/exe", {"sandgate", "egress"},
                       {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                        // Bounds how long a lookup blocks its thread.
                        "RES_OPTIONS=timeout:2 attempts:2"});
}

}  // namespace

EgressProcess start_egress(int listener, const Json& settings) {
  std::array<int, 2> pair{};
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()), "egress control");
  EgressProcess process;
  process.control = Fd(pair[0]);
  const Fd theirs(pair[1]);
  for (const int end : pair)
    setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &kControlBuffer, sizeof kControlBuffer);
  const timeval timeout{5, 0};  // for a process that does not read its commands
  setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  const Fd file = text_memfd("egress", settings.dump());
  const Fd null = check_fd(open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  SpawnActions actions;
  actions.map_fd(null.get(), 0);
  actions.map_fd(null.get(), 1);
  actions.map_fd(theirs.get(), egress::kControlFd);
  actions.map_fd(listener, egress::kListenerFd);
  actions.map_fd(file.get(), egress::kSettingsFd);
  process.pid = spawn_self(actions);
  return process;
}

}  // namespace sandgate
