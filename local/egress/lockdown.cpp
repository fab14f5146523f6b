#include "local/egress/lockdown.hpp"

#include <grp.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "local/egress/lockdown_calls.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {
namespace {

constexpr uint64_t kSocketType = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK

// 32-bit arguments arrive in 64-bit registers whose upper half the kernel ignores.
constexpr uint64_t kLow = 0xffffffff;

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release) {
    if (!context_) throw StepError("system call filter", ENOMEM);
  }
  void add(uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> when = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    const int result =
        seccomp_rule_add_array(context_.get(), action, number, when.size(), when.begin());
    if (result != 0 && result != -EDOM) throw StepError("system call filter", -result);
  }
  void load() { check(seccomp_load(context_.get()), "system call filter"); }

 private:
  std::unique_ptr<void, void (*)(void*)> context_;
};

// No raw packets, and of netlink only the protocol that lists the machine's addresses.
void allow_sockets(Filter& filter) {
  for (const uint64_t family : {AF_INET, AF_INET6}) {
    for (const uint64_t type : {SOCK_STREAM, SOCK_DGRAM})
      filter.add(SCMP_ACT_ALLOW, "socket",
                 {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, family),
                  SCMP_A1(SCMP_CMP_MASKED_EQ, kSocketType, type)});
  }
  // Some machines' name services use unix sockets (nscd, systemd-resolved).
  filter.add(SCMP_ACT_ALLOW, "socket", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_UNIX)});
  filter.add(SCMP_ACT_ALLOW, "socket",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_NETLINK),
              SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, NETLINK_ROUTE)});
}

void refuse_calls() {
  Filter filter;
  for (const char* name : kAllowedCalls) filter.add(SCMP_ACT_ALLOW, name);
  allow_sockets(filter);
  // Threads only, no processes or namespaces. A filter cannot see the flags of clone3; when that is
  // missing, the C library falls back to clone.
  filter.add(SCMP_ACT_ALLOW, "clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)});
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  filter.load();
}

// The directories of name resolution, certificate trust and the libraries that they load. Whole
// directories, because files in them may be replaced while the process runs.
std::vector<std::string> readable_places() {
  std::vector<std::string> places{"/etc", "/usr", "/lib", "/lib64"};
  std::error_code missing;
  const auto resolvers = std::filesystem::canonical("/etc/resolv.conf", missing);
  if (!missing) places.push_back(resolvers.parent_path());
  return places;
}

}  // namespace

void lock_down(uid_t uid) {
  const rlimit none{0, 0};
  check(setrlimit(RLIMIT_CORE, &none), "resource limit");
  check(chdir("/"), "working directory");
  if (geteuid() == 0) {
    check(setgroups(0, nullptr), "groups");
    check(setresgid(uid, uid, uid), "group");
    check(setresuid(uid, uid, uid), "user");
  }
  // A process that hangs would keep its sandboxes' ports from the next node. A change of user
  // resets this.
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "end with the node");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable");
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
  allow_reading_only(readable_places());
  refuse_calls();
}

}  // namespace sandgate::egress
