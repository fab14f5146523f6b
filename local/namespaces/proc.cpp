#include "local/namespaces/proc.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>

#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/mount_calls.hpp"
#include "local/namespaces/root.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

// Entries that control the kernel, or expose the machine and its other users without being useful
// to programs. cpuinfo, meminfo, stat, loadavg, uptime, version and the like stay visible, because
// programs size themselves by them. Which of them are directories is no matter of safety: the
// kernel refuses to lay a file over one, and that costs time (60 us, for all processors to take
// note).
constexpr const char* kMaskedFiles[] = {
    "bootconfig",   "buddyinfo",  "cgroups",       "cmdline",       "config.gz",   "consoles",
    "crypto",       "diskstats",  "interrupts",    "iomem",         "ioports",     "kallsyms",
    "kcore",        "key-users",  "keys",          "kmsg",          "kpagecgroup", "kpagecount",
    "kpageflags",   "locks",      "latency_stats", "misc",          "modules",     "mtrr",
    "pagetypeinfo", "partitions", "sched_debug",   "schedstat",     "slabinfo",    "softirqs",
    "swaps",        "timer_list", "timer_stats",   "sysrq-trigger", "vmallocinfo", "zoneinfo"};
constexpr const char* kMaskedDirectories[] = {"acpi", "asound",   "bus",  "driver",
                                              "fs",   "pressure", "scsi", "dynamic_debug"};
constexpr const char* kReadOnly[] = {"irq", "sys"};

// Lays read-only copies of one file or directory over entries of the working directory.
class Cover {
 public:
  explicit Cover(const Fd& source) : first_(clone_mount(source.get())) {
    set_mount_attributes(first_.get(), MOUNT_ATTR_RDONLY);
  }

  // Returns false with errno if it is refused.
  bool lay_over(const char* name) {
    // Copying one that lies takes one call, and a detached one three.
    if (lies_on_ != nullptr) return mount(lies_on_, name, nullptr, MS_BIND, nullptr) == 0;
    if (!try_attach_below(first_.get(), AT_FDCWD, name)) return false;
    lies_on_ = name;
    return true;
  }

 private:
  Fd first_;
  const char* lies_on_ = nullptr;
};

// Leaves out names without an entry in this kernel, as is usual for a quarter of them.
void mask(std::span<const char* const> names, Cover& fitting, Cover& other) {
  for (const char* name : names) {
    if (!fitting.lay_over(name) && errno != ENOENT && !other.lay_over(name))
      throw StepError("mask /proc entry", errno);
  }
}

void make_read_only(int proc, const char* name) {
  const Fd entry = try_open_below(proc, name, O_PATH);
  if (!entry && errno == ENOENT) return;
  check(entry.get(), "open /proc entry");
  Fd cover = clone_mount(entry.get());
  set_mount_attributes(cover.get(), MOUNT_ATTR_RDONLY);
  attach_mount(cover.get(), entry.get());
}

}  // namespace

uint32_t observers_of(const LaunchSpec& spec) {
  return spec.gid == 0 && !spec.single_id ? kIdOfNobody : 0;
}

void mount_proc(const LaunchSpec& spec, int stage) {
  NewFilesystem procfs("proc");
  procfs.set("hidepid", is_applied(spec, "hidepid") ? "2" : "0");
  procfs.set("gid", std::to_string(observers_of(spec)).c_str());
  Fd proc = procfs.mount(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  struct statfs kind {};
  check(fstatfs(proc.get(), &kind), "statfs /proc");
  if (kind.f_type != PROC_SUPER_MAGIC) throw StepError("verify /proc", EINVAL);
  place_on_stage(stage, "proc", proc);
  check(fchdir(proc.get()), "enter /proc");
  if (is_applied(spec, "proc_masks")) {
    Cover file(open_below(stage, "dev/null", O_PATH, "open /dev/null"));
    Cover directory(make_directory_below(stage, "empty", 0555, "empty directory"));
    mask(kMaskedFiles, file, directory);
    mask(kMaskedDirectories, directory, file);
  }
  for (const char* name : kReadOnly) {
    if (is_applied(spec, "proc_read_only")) make_read_only(proc.get(), name);
  }
}

}  // namespace sandgate
