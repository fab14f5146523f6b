#include "local/namespaces/zygote.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <string>

#include "local/fd_passing.hpp"
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/spawn_actions.hpp"
#include "local/namespaces/zygote_process.hpp"

namespace sandgate {

Zygote::Zygote(int program, int parent_netns) {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "zygote socket");
  control_.reset(pair[0]);
  const Fd theirs(pair[1]);
  const Fd null = check_fd(open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  SpawnActions actions;
  for (int stream : {0, 1, 2}) actions.map_fd(null.get(), stream);
  actions.map_fd(theirs.get(), kZygoteControlFd);
  const Fd own = check_fd(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "open own network");
  actions.map_fd(parent_netns >= 0 ? parent_netns : own.get(), kParentNetnsFd);
  pid_ = actions.spawn("/proc/self/fd/" + std::to_string(program), {kZygoteName}, {});
}

Zygote::~Zygote() {
  control_.reset();
  waitpid(pid_, nullptr, 0);
  // Reaps copies that were killed before they reported their pid: they are still in its group.
  while (waitpid(-pid_, nullptr, WNOHANG) > 0) continue;
}

void Zygote::launch(std::span<const int> descriptors) const {
  check(send_with_fds(control_.get(), "x", descriptors), "ask zygote");
}

}  // namespace sandgate
