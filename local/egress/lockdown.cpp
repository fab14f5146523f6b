#include "local/egress/lockdown.hpp"

#include <grp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {
namespace {

constexpr rlim_t kMaxDescriptors = 1 << 18;

// Nothing that carries bytes needs one of these.
constexpr std::string_view kRefused =
    "execve execveat fork vfork ptrace process_vm_readv "
    "process_vm_writev kexec_load mount umount2 pivot_root chroot "
    "setns unshare bpf perf_event_open userfaultfd io_uring_setup "
    "keyctl add_key request_key init_module finit_module open_by_handle_at "
    "kcmp pidfd_getfd kill tkill setuid setgid "
    "setresuid setresgid setgroups reboot swapon ";

// As many descriptors as this machine gives without asking for more.
void set_limits() {
  rlimit files{};
  check(getrlimit(RLIMIT_NOFILE, &files), "resource limit");
  files.rlim_cur = files.rlim_max = std::min(files.rlim_max, kMaxDescriptors);
  check(setrlimit(RLIMIT_NOFILE, &files), "resource limit");
  const rlimit none{0, 0};
  check(setrlimit(RLIMIT_CORE, &none), "resource limit");
}

void refuse_calls() {
  const std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_ALLOW),
                                                      seccomp_release);
  if (!filter) throw StepError("system call filter", ENOMEM);
  std::istringstream names{std::string(kRefused)};
  for (std::string name; names >> name;) {
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number == __NR_SCMP_ERROR) continue;
    check(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), number, 0), "system call filter");
  }
  // Packets of one's own making.
  check(seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                         SCMP_A0(SCMP_CMP_EQ, AF_PACKET)),
        "system call filter");
  check(seccomp_load(filter.get()), "system call filter");
}

}  // namespace

void lock_down(uid_t uid) {
  set_limits();
  check(chdir("/"), "working directory");
  if (geteuid() == 0) {
    check(setgroups(0, nullptr), "groups");
    check(setresgid(uid, uid, uid), "group");
    check(setresuid(uid, uid, uid), "user");
  }
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable");
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
  refuse_calls();
}

}  // namespace sandgate::egress
