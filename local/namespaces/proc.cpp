#include "local/namespaces/proc.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <utility>

#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

// Entries that control the kernel, or expose the machine and its other users without being useful
// to programs. cpuinfo, meminfo, stat, loadavg, uptime, version and the like stay visible, because
// programs size themselves by them.
constexpr const char* kMasked[] = {
    "acpi",       "asound",        "bootconfig",  "buddyinfo",   "bus",           "cgroups",
    "cmdline",    "config.gz",     "consoles",    "crypto",      "diskstats",     "driver",
    "fs",         "interrupts",    "iomem",       "ioports",     "kallsyms",      "kcore",
    "key-users",  "keys",          "kmsg",        "kpagecgroup", "kpagecount",    "kpageflags",
    "locks",      "latency_stats", "misc",        "modules",     "mtrr",          "pagetypeinfo",
    "partitions", "pressure",      "sched_debug", "schedstat",   "scsi",          "slabinfo",
    "softirqs",   "swaps",         "timer_list",  "timer_stats", "sysrq-trigger", "vmallocinfo",
    "zoneinfo",   "dynamic_debug"};
constexpr const char* kReadOnly[] = {"irq", "sys"};

// Empty when this kernel has no such entry, as is usual for a quarter of the names.
Fd open_entry(int proc, const char* name) {
  Fd entry = try_open_below(proc, name, O_PATH);
  if (!entry && errno != ENOENT) throw StepError("open /proc entry", errno);
  return entry;
}

// Lays read-only copies of one file or directory over entries. The first is made read-only, and the
// others are copied from it.
class Covers {
 public:
  explicit Covers(Fd source) : source_(std::move(source)) {}

  void lay_over(int entry) {
    Fd cover = clone_mount(source_.get());
    if (!is_read_only_) set_mount_attributes(cover.get(), MOUNT_ATTR_RDONLY);
    attach_mount(cover.get(), entry);
    source_ = std::move(cover);
    is_read_only_ = true;
  }

 private:
  Fd source_;
  bool is_read_only_ = false;
};

void mask(int proc, const char* name, Covers& files, Covers& directories) {
  const Fd entry = open_entry(proc, name);
  if (!entry) return;
  struct stat status {};
  check(fstatat(entry.get(), "", &status, AT_EMPTY_PATH), "stat /proc entry");
  (S_ISDIR(status.st_mode) ? directories : files).lay_over(entry.get());
}

void make_read_only(int proc, const char* name) {
  Fd entry = open_entry(proc, name);
  if (!entry) return;
  Fd cover = clone_mount(entry.get());
  set_mount_attributes(cover.get(), MOUNT_ATTR_RDONLY);
  attach_mount(cover.get(), entry.get());
}

}  // namespace

void mount_proc(const LaunchSpec& spec, const NewRoot& root) {
  NewFilesystem procfs("proc");
  procfs.set("hidepid", is_applied(spec, "hidepid") ? "2" : "0");
  procfs.set("gid", "0");
  Fd proc = procfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  struct statfs kind {};
  check(fstatfs(proc.get(), &kind), "statfs /proc");
  if (kind.f_type != PROC_SUPER_MAGIC) throw StepError("verify /proc", EINVAL);
  attach_mount(proc.get(),
               make_directory_below(root.root.get(), "proc", 0555, "mount point /proc").get());
  Covers files(open_below(root.root.get(), "dev/null", O_PATH, "open /dev/null"));
  Covers directories(check_fd(fcntl(root.empty.get(), F_DUPFD_CLOEXEC, 0), "empty directory"));
  for (const char* name : kMasked) {
    if (!is_applied(spec, "proc_masks")) break;
    mask(proc.get(), name, files, directories);
  }
  for (const char* name : kReadOnly) {
    if (is_applied(spec, "proc_read_only")) make_read_only(proc.get(), name);
  }
}

}  // namespace sandgate
