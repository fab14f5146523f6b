#include "local/namespaces/seccomp_policy.hpp"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "local/namespaces/seccomp_calls.hpp"
#include "local/namespaces/seccomp_install.hpp"
#include "local/namespaces/step_error.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace sandgate {
namespace {

// Kernel arguments of 32 bits arrive in 64-bit registers: the upper half is the caller's to fill
// and must not decide, so every comparison looks at the lower half only.
constexpr uint64_t kLow = 0xffffffff;

class Filter {
 public:
  Filter(const Filter&) = delete;
  ~Filter() { seccomp_release(context_); }
  explicit Filter(uint32_t default_action) : context_(seccomp_init(default_action)) {
    if (context_ == nullptr) throw StepError("seccomp init", ENOMEM);
    set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    set(SCMP_FLTATR_CTL_NNP, 0);
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }

  void add(uint32_t action, int number, std::initializer_list<scmp_arg_cmp> comparisons = {}) {
    if (number == __NR_SCMP_ERROR) return;
    int result =
        seccomp_rule_add_array(context_, action, number, comparisons.size(), comparisons.begin());
    if (result != 0 && result != -EDOM) throw StepError("seccomp rule", -result);
  }
  void add(uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> args = {}) {
    add(action, seccomp_syscall_resolve_name(name), args);
  }

  Fd program(const char* name) const {
    Fd file = check_fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "seccomp memfd");
    if (int result = seccomp_export_bpf(context_, file.get()); result != 0) {
      throw StepError("seccomp export", -result);
    }
    check(fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL),
          "seccomp seal");
    return file;
  }

 private:
  void set(scmp_filter_attr attribute, uint32_t value) {
    if (int result = seccomp_attr_set(context_, attribute, value); result != 0) {
      throw StepError("seccomp attribute", -result);
    }
  }

  scmp_filter_ctx context_;
};

struct InternetSocket {
  uint64_t family, type, protocol;
};
// Any other protocol would make the kernel load a module that nobody here needs.
constexpr InternetSocket kInternetSockets[] = {{AF_INET, SOCK_STREAM, 0},
                                               {AF_INET, SOCK_STREAM, IPPROTO_TCP},
                                               {AF_INET, SOCK_DGRAM, 0},
                                               {AF_INET, SOCK_DGRAM, IPPROTO_UDP},
                                               {AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
                                               {AF_INET6, SOCK_STREAM, 0},
                                               {AF_INET6, SOCK_STREAM, IPPROTO_TCP},
                                               {AF_INET6, SOCK_DGRAM, 0},
                                               {AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
                                               {AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6}};
constexpr uint64_t kSocketType = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK

void allow_sockets(Filter& filter) {
  filter.add(SCMP_ACT_ALLOW, "socket", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_UNIX)});
  for (const InternetSocket& one : kInternetSockets) {
    filter.add(SCMP_ACT_ALLOW, "socket",
               {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, one.family),
                SCMP_A1(SCMP_CMP_MASKED_EQ, kSocketType, one.type),
                SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, one.protocol)});
  }
  // The agent lets few through at a time: what waits in them is charged to nobody.
  filter.add(SCMP_ACT_NOTIFY, "socket",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_NETLINK),
              SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, NETLINK_ROUTE)});
  filter.add(SCMP_ACT_ALLOW, "socketpair", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_UNIX)});
}

// Linux, BSD-like and the two 32-bit layouts, and the question which one it is: none of them
// touches address randomization.
void allow_personalities(Filter& filter) {
  for (uint64_t value : {0x0u, 0x8u, 0x20000u, 0x20008u, 0xffffffffu}) {
    filter.add(SCMP_ACT_ALLOW, "personality", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, value)});
  }
}

Fd compile_calls(bool debug, bool asks) {
  Filter filter(SCMP_ACT_ERRNO(EPERM));
  for (const char* name : kAllowedCalls) filter.add(SCMP_ACT_ALLOW, name);
  if (debug) {
    for (const char* name : kDebugCalls) filter.add(SCMP_ACT_ALLOW, name);
  }
  for (const char* name : kAbsentCalls) filter.add(SCMP_ACT_ERRNO(ENOSYS), name);
  for (const char* name : kIdleCalls) filter.add(SCMP_ACT_ERRNO(0), name);
  for (int number = kFirstNewNumber; number <= kLastNewNumber; ++number) {
    bool allowed = std::find(std::begin(kAllowedNumbers), std::end(kAllowedNumbers), number) !=
                   std::end(kAllowedNumbers);
    filter.add(allowed ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS), number);
  }
  allow_sockets(filter);
  // The agent lets few of these through at a time: what they take is charged to nobody.
  for (const char* name : {"listen", "seccomp"})
    filter.add(asks ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, name);
  allow_personalities(filter);
  return filter.program("calls");
}

void forbid_bits(Filter& filter, const char* name, unsigned argument,
                 std::initializer_list<uint64_t> flags) {
  for (uint64_t flag : flags) {
    filter.add(SCMP_ACT_ERRNO(EPERM), name,
               {scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, flag, flag}});
  }
}

// Lowering the limit to 0 would let a crash run the machine's core dump helper (see limits.cpp).
// Programs that switch dumps off take a refusal badly, so they hear that it is done: by either
// call, as the C library's setrlimit makes them. Who asks for the old limit at once is refused,
// since nobody would write it, and so is who means another process.
void keep_core_limit(Filter& filter) {
  filter.add(SCMP_ACT_ERRNO(0), "setrlimit", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, RLIMIT_CORE)});
  const auto core = SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, RLIMIT_CORE);
  const auto set = SCMP_A2(SCMP_CMP_NE, 0);
  filter.add(SCMP_ACT_ERRNO(0), "prlimit64",
             {SCMP_A0(SCMP_CMP_EQ, 0), core, set, SCMP_A3(SCMP_CMP_EQ, 0)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64",
             {SCMP_A0(SCMP_CMP_EQ, 0), core, set, SCMP_A3(SCMP_CMP_NE, 0)});
}

// A process changes its own limits only: root inside could starve the agent by those of pid 1.
void keep_limits_of_others(Filter& filter) {
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64",
             {SCMP_A0(SCMP_CMP_NE, 0), SCMP_A2(SCMP_CMP_NE, 0)});
}

Fd compile_arguments() {
  Filter filter(SCMP_ACT_ALLOW);
  // In clone the low byte is the exit signal, so CLONE_NEWTIME exists only for unshare.
  forbid_bits(filter, "clone", 0,
              {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
               CLONE_NEWPID, CLONE_NEWNET});
  forbid_bits(filter, "unshare", 0,
              {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
               CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWTIME});
  for (uint64_t request : {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}) {
    filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, request)});
  }
  for (uint64_t type : {S_IFCHR, S_IFBLK}) {
    filter.add(SCMP_ACT_ERRNO(EPERM), "mknod", {SCMP_A1(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
    filter.add(SCMP_ACT_ERRNO(EPERM), "mknodat", {SCMP_A2(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
  }
  // Filters of sockets take the machine's room for compiled ones, which is charged to nobody.
  for (uint64_t option :
       {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF}) {
    filter.add(
        SCMP_ACT_ERRNO(EPERM), "setsockopt",
        {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, SOL_SOCKET), SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, option)});
  }
  // Who is told that it is not there takes the call of its own, for which the agent is asked.
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, PR_SET_SECCOMP)});
  // What connections hold that nobody has accepted is charged to nobody, so it stays as small as
  // the network namespace says; programs that ask for more take a refusal badly.
  filter.add(SCMP_ACT_ERRNO(0), "setsockopt",
             {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, SOL_SOCKET),
              SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, SO_RCVBUF)});
  // Huge pages are outside a memory limit.
  forbid_bits(filter, "mmap", 3, {MAP_HUGETLB});
  forbid_bits(filter, "memfd_create", 1, {MFD_HUGETLB});
  forbid_bits(filter, "shmget", 2, {SHM_HUGETLB});
  keep_core_limit(filter);
  keep_limits_of_others(filter);
  return filter.program("arguments");
}

}  // namespace

SeccompPrograms compile_seccomp() {
  const bool asks = can_ask();
  return {compile_calls(false, asks), compile_calls(true, asks), compile_arguments()};
}

}  // namespace sandgate
