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
#include "local/namespaces/seccomp_filter.hpp"
#include "local/namespaces/seccomp_install.hpp"
#include "local/namespaces/seccomp_socket_options.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace sandgate {
namespace {

constexpr uint64_t kLow = SeccompFilter::kLow;

struct InternetSocket {
  uint64_t family, type, protocol;
};
// Other protocols could make the kernel load modules that sandboxes do not need.
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

void allow_sockets(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ALLOW, "socket", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_UNIX)});
  for (const InternetSocket& one : kInternetSockets) {
    filter.add(SCMP_ACT_ALLOW, "socket",
               {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, one.family),
                SCMP_A1(SCMP_CMP_MASKED_EQ, kSocketType, one.type),
                SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, one.protocol)});
  }
  // Limited by the agent's SyscallLimiter: no control group is charged for the sockets' queues.
  filter.add(SCMP_ACT_NOTIFY, "socket",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_NETLINK),
              SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, NETLINK_ROUTE)});
  // What programs that keep accounts (useradd, su) take for a kernel without auditing.
  filter.add(SCMP_ACT_ERRNO(EPROTONOSUPPORT), "socket",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_NETLINK),
              SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, NETLINK_AUDIT)});
  filter.add(SCMP_ACT_ALLOW, "socketpair", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, AF_UNIX)});
}

// Limited by the agent's SyscallLimiter with MSG_MORE: no control group is charged for what a UDP
// socket gathers until its datagram is whole. The filter does not see a socket's kind.
void allow_sends(SeccompFilter& filter) {
  const auto allow = [&](const char* name, unsigned flags) {
    filter.add(SCMP_ACT_ALLOW, name, {scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, MSG_MORE, 0}});
    filter.add(SCMP_ACT_NOTIFY, name,
               {scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, MSG_MORE, MSG_MORE}});
  };
  allow("sendto", 3);
  allow("sendmsg", 2);
  allow("sendmmsg", 3);
}

// Urgent bytes of Unix sockets are code of the kernel that next to nobody uses, and in which a
// program without privileges could take over the kernel (CVE-2025-38236). The filter does not see a
// socket's kind, so TCP has none either. The answer is that of sockets without such bytes.
void refuse_urgent_bytes(SeccompFilter& filter) {
  const auto refuse = [&](const char* name, unsigned flags) {
    filter.add(SCMP_ACT_ERRNO(EOPNOTSUPP), name,
               {scmp_arg_cmp{flags, SCMP_CMP_MASKED_EQ, MSG_OOB, MSG_OOB}});
  };
  refuse("sendto", 3);
  refuse("sendmsg", 2);
  refuse("sendmmsg", 3);
}

// Allows Linux, BSD and their two 32-bit variants, and the query of the current value: none of them
// changes address space randomization.
void allow_personalities(SeccompFilter& filter) {
  for (uint64_t value : {0x0u, 0x8u, 0x20000u, 0x20008u, 0xffffffffu}) {
    filter.add(SCMP_ACT_ALLOW, "personality", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, value)});
  }
}

Fd compile_calls(bool debug, bool asks) {
  SeccompFilter filter(SCMP_ACT_ERRNO(EPERM));
  for (const char* name : kAllowedCalls) filter.add(SCMP_ACT_ALLOW, name);
  if (debug) {
    for (const char* name : kDebugCalls) filter.add(SCMP_ACT_ALLOW, name);
  }
  for (const char* name : kAbsentCalls) filter.add(SCMP_ACT_ERRNO(ENOSYS), name);
  for (const char* name : kIdleCalls) filter.add(SCMP_ACT_ERRNO(0), name);
  for (int number = kFirstNewNumber; number <= kLastNewNumber; ++number) {
    bool allowed = std::ranges::find(kAllowedNumbers, number) != std::end(kAllowedNumbers);
    filter.add(allowed ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(ENOSYS), number);
  }
  allow_sockets(filter);
  allow_sends(filter);
  // Limited by the agent's SyscallLimiter: no control group is charged for the memory they use.
  for (const char* name : {"listen", "seccomp"})
    filter.add(asks ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, name);
  allow_personalities(filter);
  return filter.program("calls");
}

void forbid_bits(SeccompFilter& filter, const char* name, unsigned argument,
                 std::initializer_list<uint64_t> flags) {
  for (uint64_t flag : flags) {
    filter.add(SCMP_ACT_ERRNO(EPERM), name,
               {scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, flag, flag}});
  }
}

// Lowering the limit to 0 would let a crash run the machine's core dump helper (see limits.cpp).
// Programs that disable dumps handle an error badly, so both calls that the C library's setrlimit
// may use report success without effect. prlimit64 that also reads the old limit, or that names a
// process, fails with EPERM.
void keep_core_limit(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ERRNO(0), "setrlimit", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, RLIMIT_CORE)});
  const auto core = SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, RLIMIT_CORE);
  const auto set = SCMP_A2(SCMP_CMP_NE, 0);
  filter.add(SCMP_ACT_ERRNO(0), "prlimit64",
             {SCMP_A0(SCMP_CMP_EQ, 0), core, set, SCMP_A3(SCMP_CMP_EQ, 0)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64",
             {SCMP_A0(SCMP_CMP_EQ, 0), core, set, SCMP_A3(SCMP_CMP_NE, 0)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64", {SCMP_A0(SCMP_CMP_NE, 0), core, set});
}

// In a sandbox the first process is the agent, which has a single thread.
constexpr uint64_t kAgent = 1;

// Otherwise root inside could starve the agent by lowering its limits.
void keep_limits_of_agent(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ERRNO(EPERM), "prlimit64",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, kAgent), SCMP_A2(SCMP_CMP_NE, 0)});
}

// The scheduling calls check user ids, and root inside has the agent's: with as many capabilities
// as the agent it could give it the lowest priority or a single processor, then keep that busy.
void keep_scheduling_of_agent(SeccompFilter& filter) {
  constexpr uint64_t kIoOfProcess = 1, kIoOfUser = 3;
  const auto first_is = [](uint64_t value) { return SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, value); };
  const auto second_is_agent = SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, kAgent);
  for (const char* name : {"sched_setaffinity", "sched_setparam", "sched_setscheduler"})
    filter.add(SCMP_ACT_ERRNO(EPERM), name, {first_is(kAgent)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "setpriority", {first_is(PRIO_PROCESS), second_is_agent});
  filter.add(SCMP_ACT_ERRNO(EPERM), "ioprio_set", {first_is(kIoOfProcess), second_is_agent});
  // Of all processes of a user, the agent's included.
  filter.add(SCMP_ACT_ERRNO(EPERM), "setpriority", {first_is(PRIO_USER)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "ioprio_set", {first_is(kIoOfUser)});
}

// With it a process can keep the other threads of its core idle, which no control group limits.
void refuse_core_scheduling(SeccompFilter& filter) {
  constexpr int kCoreScheduling = 62;
  filter.add(SCMP_ACT_ERRNO(EPERM), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, kCoreScheduling)});
}

// For these the kernel runs modprobe as the machine's root whenever the module is missing, before
// it looks at any privilege. The answer is that of a kernel without the module.
void refuse_requests_of_modules(SeccompFilter& filter) {
  constexpr uint64_t kBridges[] = {0x8940, 0x8941, 0x89a0, 0x89a1, 0x89a2, 0x89a3};
  constexpr uint64_t kFrameRelay[] = {0x8980, 0x8981}, kVlans[] = {0x8982, 0x8983};
  const auto refuse = [&](const auto& requests) {
    for (const uint64_t request : requests)
      filter.add(SCMP_ACT_ERRNO(ENOPKG), "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, request)});
  };
  refuse(kBridges);
  refuse(kFrameRelay);
  refuse(kVlans);
}

// Memory limits do not cover huge pages. Pages that are merged with equal ones of other sandboxes
// would tell what is in those; the answer is that of a kernel that merges none.
void refuse_pages_of_the_machine(SeccompFilter& filter) {
  forbid_bits(filter, "mmap", 3, {MAP_HUGETLB});
  forbid_bits(filter, "memfd_create", 1, {MFD_HUGETLB});
  forbid_bits(filter, "shmget", 2, {SHM_HUGETLB});
  constexpr uint64_t kMergeAll = 67;  // PR_SET_MEMORY_MERGE, for which Linux asks no privilege
  filter.add(SCMP_ACT_ERRNO(EINVAL), "madvise",
             {SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, MADV_MERGEABLE)});
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, kMergeAll)});
}

// Sandboxes of one image share what of its files is in memory. Whoever may read such a file could
// have the kernel forget it, and who owns it (root inside) the pages that nobody else maps: with
// that in a loop, the programs of all others are read from the disk at every start. Reports
// success: it is advice, and what a sandbox has in memory is forgotten at its limit anyway.
void keep_cached_files(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ERRNO(0), "fadvise64",
             {SCMP_A3(SCMP_CMP_MASKED_EQ, kLow, POSIX_FADV_DONTNEED)});
  filter.add(SCMP_ACT_ERRNO(0), "madvise", {SCMP_A2(SCMP_CMP_MASKED_EQ, kLow, MADV_PAGEOUT)});
}

// What of a shared file is locked in memory counts for whoever read it first, and nothing makes
// room there when its programs need it. The answer is that of a kernel that locks no more; the
// calls that only lock have no effect (kIdleCalls).
void refuse_locked_maps(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ERRNO(EAGAIN), "mmap", {SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_LOCKED, MAP_LOCKED)});
}

// A file in memory keeps its access control list of up to 64 KiB in memory that no control group is
// charged for. With 1000 bytes (124 entries) that is less than what the file itself is charged.
// ext4 has no room for more than 4 KiB and answers the same.
void shorten_attributes(SeccompFilter& filter) {
  constexpr uint64_t kMaxBytes = 1000;
  for (const char* name : {"setxattr", "lsetxattr", "fsetxattr"})
    filter.add(SCMP_ACT_ERRNO(ENOSPC), name, {SCMP_A3(SCMP_CMP_GT, kMaxBytes)});
}

// A thread that waits for many descriptors holds 130 bytes for each, for which no control group is
// charged; epoll does not. select() knows no more than 1024 anyway.
void shorten_waits(SeccompFilter& filter) {
  constexpr uint64_t kMaxWaitedFor = 1024;
  for (const char* name : {"poll", "ppoll"})
    filter.add(SCMP_ACT_ERRNO(EINVAL), name, {SCMP_A1(SCMP_CMP_GT, kMaxWaitedFor)});
  for (const char* name : {"select", "pselect6"})
    filter.add(SCMP_ACT_ERRNO(EINVAL), name, {SCMP_A0(SCMP_CMP_GT, kMaxWaitedFor)});
}

// A file that signals what happens to it does so for each process of the group that owns it,
// without a pause: one write to a pipe that was opened 19 000 times took 0.8 s. Terminals belong to
// a group without being told. The answers are those of a kernel without leases and notices of
// directories, but FIOASYNC reports success: nginx asks for it, does without the signal, but not
// with an error.
void refuse_signals_of_files(SeccompFilter& filter) {
  constexpr int kSetDelegation = 1040;
  const auto command = [](uint64_t value) { return SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, value); };
  filter.add(SCMP_ACT_ERRNO(EINVAL), "fcntl",
             {command(F_SETFL), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, O_ASYNC)});
  for (const uint64_t value : {F_NOTIFY, F_SETLEASE, kSetDelegation})
    filter.add(SCMP_ACT_ERRNO(EINVAL), "fcntl", {command(value)});
  filter.add(SCMP_ACT_ERRNO(0), "ioctl", {command(FIOASYNC)});
}

// What the kernel does without a pause, the longer the more of it: all waiting operations are tried
// again for each one that completes; a large table of futexes is set up at once; a signal to
// processes that share their handlers, but are no threads, wakes up the same waiters for each.
void shorten_calls(SeccompFilter& filter) {
  constexpr uint64_t kMaxOperations = 32, kFutexTable = 78;
  for (const char* name : {"semop", "semtimedop"})
    filter.add(SCMP_ACT_ERRNO(E2BIG), name, {SCMP_A2(SCMP_CMP_GT, kMaxOperations)});
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, kFutexTable)});
  filter.add(SCMP_ACT_ERRNO(EPERM), "clone",
             {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_SIGHAND | CLONE_THREAD, CLONE_SIGHAND)});
}

// With it a process chooses the numbers of its timers, which the kernel finds in a table that the
// whole machine shares: those of one sandbox could all lie in one place of it. Only programs that
// restore processes need it. The answer is that of a kernel without it.
void refuse_chosen_timers(SeccompFilter& filter) {
  constexpr int kChooseTimers = 77;  // PR_TIMER_CREATE_RESTORE_IDS
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, kChooseTimers)});
}

// The kernel keeps names of memory outside of the sandbox's limit. The answer is that of a kernel
// that knows none, as most are.
void refuse_names_of_memory(SeccompFilter& filter) {
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, PR_SET_VMA)});
}

// Pages of such a pipe count as nobody's memory. What they are for, notices of changes to keys, no
// program here could ask for. The answer is that of a kernel without them.
void refuse_pipes_of_notices(SeccompFilter& filter) {
  constexpr uint64_t kNotificationPipe = O_EXCL;
  filter.add(SCMP_ACT_ERRNO(ENOPKG), "pipe2",
             {SCMP_A1(SCMP_CMP_MASKED_EQ, kNotificationPipe, kNotificationPipe)});
}

void refuse_device_nodes(SeccompFilter& filter) {
  for (uint64_t type : {S_IFCHR, S_IFBLK}) {
    filter.add(SCMP_ACT_ERRNO(EPERM), "mknod", {SCMP_A1(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
    filter.add(SCMP_ACT_ERRNO(EPERM), "mknodat", {SCMP_A2(SCMP_CMP_MASKED_EQ, S_IFMT, type)});
  }
}

Fd compile_arguments() {
  SeccompFilter filter(SCMP_ACT_ALLOW);
  // The low byte of clone's flags is the exit signal, so CLONE_NEWTIME applies only to unshare.
  forbid_bits(filter, "clone", 0,
              {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
               CLONE_NEWPID, CLONE_NEWNET});
  forbid_bits(filter, "unshare", 0,
              {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
               CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWTIME});
  for (uint64_t request : {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS})
    filter.add(SCMP_ACT_ERRNO(EPERM), "ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, request)});
  refuse_device_nodes(filter);
  // On EINVAL programs fall back to the seccomp system call, which the agent limits.
  filter.add(SCMP_ACT_ERRNO(EINVAL), "prctl", {SCMP_A0(SCMP_CMP_MASKED_EQ, kLow, PR_SET_SECCOMP)});
  restrict_socket_options(filter);
  refuse_urgent_bytes(filter);
  refuse_core_scheduling(filter);
  refuse_requests_of_modules(filter);
  refuse_pages_of_the_machine(filter);
  keep_cached_files(filter);
  refuse_locked_maps(filter);
  keep_core_limit(filter);
  keep_limits_of_agent(filter);
  keep_scheduling_of_agent(filter);
  shorten_attributes(filter);
  shorten_waits(filter);
  shorten_calls(filter);
  refuse_chosen_timers(filter);
  refuse_names_of_memory(filter);
  refuse_pipes_of_notices(filter);
  refuse_signals_of_files(filter);
  return filter.program("arguments");
}

}  // namespace

SeccompPrograms compile_seccomp() {
  const bool asks = can_notify();
  return {compile_calls(/*debug=*/false, asks), compile_calls(/*debug=*/true, asks),
          compile_arguments()};
}

}  // namespace sandgate
