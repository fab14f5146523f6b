#include "local/namespaces/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstring>
#include <optional>
#include <span>
#include <sstream>

#include "gateway/core/files.hpp"
#include "local/fd_passing.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/parent_netns.hpp"
#include "local/namespaces/pidfd.hpp"
#include "local/namespaces/spawn_actions.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

constexpr int kLaunchTimeoutSeconds = 10;
// Copies of a zygote share one address-space layout, so each sandbox could reveal that of others.
constexpr int kLaunchesEach = 64;

Fd sealed_copy(const std::string& path) {
  Fd from = check_fd(open(path.c_str(), O_RDONLY | O_CLOEXEC), "open launcher");
  struct stat status {};
  check(fstat(from.get(), &status), "stat launcher");
  Fd copy =
      check_fd(memfd_create("sandgate-agent", MFD_CLOEXEC | MFD_ALLOW_SEALING), "launcher memfd");
  for (off_t left = status.st_size; left > 0;) {
    ssize_t sent = sendfile(copy.get(), from.get(), nullptr, static_cast<size_t>(left));
    if (sent <= 0) throw StepError("copy launcher", sent < 0 ? errno : EIO);
    left -= sent;
  }
  check(fchmod(copy.get(), 0500), "launcher mode");
  check(fcntl(copy.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
        "seal launcher");
  // Below kTargetLimit, a descriptor given to the child could overwrite it before it is executed.
  return check_fd(fcntl(copy.get(), F_DUPFD_CLOEXEC, kTargetLimit), "keep launcher");
}

struct Packet {
  LaunchReport report;
  Fd fd;
};

// Receives the next packet; empty when the peer has closed the socket.
std::optional<Packet> receive(int socket_fd) {
  char text[1024];
  pollfd readable{socket_fd, POLLIN, 0};
  if (poll(&readable, 1, kLaunchTimeoutSeconds * 1000) != 1) throw StepError("launch", ETIMEDOUT);
  Packet packet;
  FdMessage received = receive_with_fds(socket_fd, text);
  // It ended and left something unread, of which the kernel tells before what it sent.
  if (received.size < 0 && errno == ECONNRESET) received = receive_with_fds(socket_fd, text);
  if (received.size <= 0) return std::nullopt;
  packet.fd = received.first_fd();
  try {
    packet.report = launch_report_from({text, static_cast<size_t>(received.size)});
  } catch (const std::exception&) {
    throw StepError("launch report", EBADMSG);
  }
  return packet;
}

int open_mount_namespace(pid_t pid) {
  return open(("/proc/" + std::to_string(pid) + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC);
}

void kill_and_reap(const Fd& pidfd) {
  if (!pidfd) return;
  kill_by_pidfd(pidfd);
  siginfo_t info{};
  waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED);
}

// The state of a launch according to the reports received so far.
struct Launch {
  pid_t launcher = 0;  // 0: not reported yet
  Launcher::Launched launched;
  bool ready = false;

  void heed(Packet packet) {
    switch (packet.report.kind) {
      case LaunchReport::Kind::launching:
        launcher = packet.report.pid;
        break;
      case LaunchReport::Kind::started:
        launched.pid = packet.report.pid;
        launched.pidfd = std::move(packet.fd);
        if (!launched.pidfd) throw StepError("launch", EMFILE);  // there was no room for it
        break;
      case LaunchReport::Kind::ready:
        ready = true;
        break;
      case LaunchReport::Kind::failed:
        throw StepError(packet.report.step, packet.report.error_number);
    }
  }
};

void read_report(int socket_fd, Launch& launch) {
  std::optional<Packet> packet = receive(socket_fd);
  if (!packet && launch.launcher == 0) throw StepError("launcher was killed", EAGAIN);
  if (!packet) throw StepError("launcher ended early", ECHILD);
  launch.heed(*std::move(packet));
}

void await_start(int socket_fd, Launch& launch) {
  while (!launch.launched.pidfd) read_report(socket_fd, launch);
}

// Without its descriptor by its number, which a child of this process keeps until it is reaped.
void kill_first(const Launcher::Launched& launched) {
  if (launched.pidfd)
    kill_by_pidfd(launched.pidfd);
  else if (launched.pid != 0)
    kill(launched.pid, SIGKILL);
}

// Kills both processes and reads the remaining reports until the peer closes: they may have started
// although that was not read yet.
void end_begun(int socket_fd, Launch& launch) {
  for (;;) {
    if (launch.launcher != 0) kill(launch.launcher, SIGKILL);
    kill_first(launch.launched);
    try {
      std::optional<Packet> packet = receive(socket_fd);
      if (!packet) return;
      launch.heed(*std::move(packet));
    } catch (const StepError& failure) {
      if (failure.number == ETIMEDOUT) return;
    }
  }
}

void give_up(int socket_fd, Launch& launch) {
  end_begun(socket_fd, launch);
  kill_and_reap(launch.launched.pidfd);
  if (launch.launcher == 0) return;
  waitpid(launch.launcher, nullptr, 0);
  // Also reap a first process that was not reported, or without its descriptor: a child of this
  // process by CLONE_PARENT, in the launcher's process group. It exits when its launcher is gone.
  while (waitpid(-launch.launcher, nullptr, 0) > 0) continue;
}

// For what the launch waits for. A peer that has ended has reported why.
void hand_over(int socket_fd, const std::string& name, std::span<const int> fds) {
  if (send_with_fds(socket_fd, name, fds) >= 0 || errno == EPIPE || errno == ECONNRESET) return;
  throw StepError("hand over " + name, errno);
}

void hand_over_cgroups(int socket_fd, const std::vector<Fd>& cgroups) {
  std::vector<int> fds;
  for (const Fd& cgroup : cgroups) fds.push_back(cgroup.get());
  hand_over(socket_fd, "cgroups", fds);
}

// Id-mapped, so that the owners stored in the image file do not depend on the sandbox's id range.
void hand_over_disk(int socket_fd, Fd disk, Launch& launch) {
  await_start(socket_fd, launch);
  idmap_mount(disk.get(), open_user_namespace(launch.launched.pid).get(), 0);
  const int fd = disk.get();
  hand_over(socket_fd, "disk", {&fd, 1});
  launch.launched.disk = std::move(disk);
}

}  // namespace

Launcher::Launcher(const std::string& program_path)
    : program_(sealed_copy(program_path)), parent_netns_(make_parent_netns()) {}

std::shared_ptr<const Zygote> Launcher::zygote(const Zygote* lost) const {
  const std::lock_guard lock(mutex_);
  if (launches_left_ == 0 || zygote_.get() == lost) {
    zygote_ = std::make_shared<Zygote>(program_.get(), parent_netns_.get());
    launches_left_ = kLaunchesEach;
  }
  --launches_left_;
  return zygote_;
}

void Launcher::begin(const std::vector<int>& descriptors) const {
  const auto first = zygote(nullptr);
  try {
    first->launch(descriptors);
  } catch (const StepError&) {
    zygote(first.get())->launch(descriptors);  // the zygote was killed: try once with a new one
  }
}

Launcher::Launched Launcher::launch(Inputs inputs) const {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "report socket");
  Fd ours(pair[0]), theirs(pair[1]);
  const Fd spec = text_memfd("launch", to_json_text(inputs.spec));
  const Fd null = check_fd(open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  // In the order of LaunchFd.
  const std::vector<int> descriptors{spec.get(),
                                     theirs.get(),
                                     inputs.image,
                                     inputs.listener,
                                     inputs.filter_calls,
                                     inputs.filter_arguments,
                                     inputs.workspace >= 0 ? inputs.workspace : null.get()};
  begin(descriptors);
  // The kernel queues the zygote behind this thread, which it expects to wait for an answer, even
  // if another processor is idle.
  sched_yield();
  theirs.reset();
  Launch launch;
  try {
    if (inputs.make_cgroups) hand_over_cgroups(ours.get(), inputs.make_cgroups());
    if (inputs.make_disk) hand_over_disk(ours.get(), inputs.make_disk(), launch);
    await_start(ours.get(), launch);
    launch.launched.start_time = process_start_time(launch.launched.pid);
    launch.launched.mounts.reset(open_mount_namespace(launch.launched.pid));
    while (!launch.ready) read_report(ours.get(), launch);
  } catch (...) {
    give_up(ours.get(), launch);
    throw;
  }
  waitpid(launch.launcher, nullptr, 0);
  return std::move(launch.launched);
}

uint64_t process_start_time(pid_t pid) {
  const std::string line = read_text_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  size_t name_end = line.rfind(')');  // the name may contain any text
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

}  // namespace sandgate
