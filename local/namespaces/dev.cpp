#include "local/namespaces/dev.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>

#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

constexpr const char* kMaxTerminals = "64";

struct DeviceNode {
  const char* name;
  unsigned major, minor;
};
constexpr DeviceNode kDevices[] = {{"null", 1, 3},   {"zero", 1, 5},    {"full", 1, 7},
                                   {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0}};

struct Link {
  const char *name, *target;
};
constexpr Link kLinks[] = {{"ptmx", "pts/ptmx"},
                           {"fd", "/proc/self/fd"},
                           {"stdin", "/proc/self/fd/0"},
                           {"stdout", "/proc/self/fd/1"},
                           {"stderr", "/proc/self/fd/2"}};

// Binds the host's nodes over the placeholder files; works only while the host's /dev is visible.
void bind_nodes(int stage) {
  for (const DeviceNode& node : kDevices) {
    const std::string host = std::string("/dev/") + node.name;
    const std::string here = std::string("dev/") + node.name;
    Fd source = check_fd(open(host.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC), "open device");
    Fd mount = clone_mount(source.get());
    attach_mount(mount.get(), open_below(stage, here.c_str(), O_PATH, "device file").get());
  }
  set_mount_attributes(open_below(stage, "dev", O_PATH | O_DIRECTORY, "/dev").get(),
                       MOUNT_ATTR_RDONLY);
}

}  // namespace

Fd make_dev(DevNodes nodes) {
  NewFilesystem tmpfs("tmpfs");
  tmpfs.set("size", "65536");
  tmpfs.set("mode", "0755");
  Fd dev = tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  mode_t mask = umask(0);
  for (const DeviceNode& node : kDevices) {
    const mode_t kind = nodes == DevNodes::made ? S_IFCHR : S_IFREG;
    check(mknodat(dev.get(), node.name, kind | 0666, makedev(node.major, node.minor)),
          "make device node");
  }
  umask(mask);
  for (const Link& link : kLinks) {
    check(symlinkat(link.target, dev.get(), link.name), "make device link");
  }
  check(mkdirat(dev.get(), "pts", 0755), "make /dev/pts");
  check(mkdirat(dev.get(), "shm", 0755), "make /dev/shm");
  if (nodes == DevNodes::made) set_mount_attributes(dev.get(), MOUNT_ATTR_RDONLY);
  return dev;
}

void mount_dev_parts(const LaunchSpec& spec, int stage) {
  if (spec.single_id) bind_nodes(stage);
  NewFilesystem devpts("devpts");
  devpts.set_flag("newinstance");
  devpts.set("ptmxmode", "0666");
  devpts.set("mode", "0620");
  if (!spec.single_id) devpts.set("gid", "5");
  // All devpts instances share one limit of the machine, so each sandbox gets a limit of its own.
  if (is_applied(spec, "terminals")) devpts.set("max", kMaxTerminals);
  Fd pts = devpts.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  attach_mount(pts.get(), open_below(stage, "dev/pts", O_PATH | O_DIRECTORY, "/dev/pts").get());

  NewFilesystem tmpfs("tmpfs");
  tmpfs.set("size", std::to_string(spec.shm_bytes).c_str());
  // Each may have two access control lists, for which no control group is charged.
  if (is_applied(spec, "shm_inodes")) tmpfs.set("nr_inodes", "2048");
  tmpfs.set("mode", "1777");
  Fd shm = tmpfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  attach_mount(shm.get(), open_below(stage, "dev/shm", O_PATH | O_DIRECTORY, "/dev/shm").get());
}

}  // namespace sandgate
