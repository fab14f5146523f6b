#include "tests/local/namespaces/attacks.hpp"

namespace sandgate::test {
namespace {

constexpr Attack kAttacks[] = {
    {"write the agent's program",
     "for e in /proc/[0-9]*/exe; do [ $e = /proc/$$/exe ] && continue; "
     "case $(readlink $e) in /usr/*) continue;; esac; "
     "(: >> $e) 2>/dev/null && echo broken; done; echo refused"},
    {"see the agent's environment",
     "cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n' | "
     "grep -q . && echo broken || echo refused"},
    {"find the host's environment",
     "cat /proc/[0-9]*/environ 2>/dev/null | "
     "grep -q canary-of-the-host && echo broken || echo refused"},
    {"read the agent's memory",
     "(head -c1 /proc/1/mem || cat /proc/1/maps || ls /proc/1/fd/) "
     ">/dev/null 2>&1 && echo broken || echo refused",
     "dumpable,capabilities"},
    {"see the agent's descriptors", "ls /proc/1/fd/ >/dev/null 2>&1 && echo broken || echo refused",
     "dumpable,capabilities"},
    {"go to the agent's root", "ls /proc/1/root/ >/dev/null 2>&1 && echo broken || echo refused",
     "dumpable,capabilities"},
    {"mount", "mount -t tmpfs x /mnt 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"remount proc writable",
     "mount -o remount,bind,rw /proc/sys 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"unmount a mask", "umount /proc/keys 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"bind a directory", "mount --bind /etc /mnt 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"a user namespace of its own", "unshare -Ur true 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities"},
    {"a mount namespace of its own", "unshare -m true 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"mount control groups",
     "for c in cpu cpuacct memory pids blkio devices freezer none,name=x; do "
     "unshare -UrmC mount -t cgroup -o $c x /mnt 2>/dev/null && echo broken $c; done; "
     "unshare -UrmC mount -t cgroup2 x /mnt 2>/dev/null && echo broken; echo refused",
     "seccomp,capabilities,landlock"},
    {"mount in a user namespace of its own",
     "unshare -Urm mount -t tmpfs x /mnt 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,landlock"},
    {"chroot",
     "chroot /tmp true 2>/dev/null; chroot / true 2>/dev/null && echo broken || "
     "echo refused",
     "seccomp,capabilities"},
    {"learn the machine's control groups",
     "grep -qv ':/$' /proc/self/cgroup && echo broken || echo refused", "cgroup_names"},
    {"enter pid 1's namespaces", "nsenter -t 1 -u true 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities,dumpable"},
    {"rename the machine", "hostname evil 2>/dev/null && echo broken || echo refused",
     "seccomp,capabilities"},
    {"set the clock", "date -s 2001-01-01 >/dev/null 2>&1 && echo broken || echo refused"},
    {"read the kernel's log", "dmesg 2>/dev/null | grep -q . && echo broken || echo refused"},
    {"write files of sysctl",
     "for f in $(find /proc/sys -type f 2>/dev/null | head -1500); do "
     "(: >> $f) 2>/dev/null && echo broken $f; done; echo refused",
     "proc_read_only"},
    {"speak to the kernel through proc",
     "for f in sysrq-trigger kcore kmsg sys/kernel/core_pattern sys/kernel/modprobe "
     "sys/vm/drop_caches sys/kernel/hostname irq/0/smp_affinity; do "
     "(echo h > /proc/$f) 2>/dev/null && [ ! -c /proc/$f ] && echo broken $f; done; echo refused"},
    {"learn of the machine from proc",
     "for f in cmdline modules partitions interrupts diskstats keys timer_list iomem zoneinfo "
     "cgroups misc buddyinfo kallsyms config.gz bootconfig consoles crypto ioports key-users "
     "latency_stats mtrr pagetypeinfo schedstat slabinfo softirqs swaps vmallocinfo; do "
     "[ -s /proc/$f ] || grep -q . /proc/$f 2>/dev/null && echo broken $f; done; echo refused",
     "proc_masks"},
    {"see the locks of others",
     // Of an open file, which the kernel shows to all: it belongs to no process.
     "python3 -c \"import fcntl, struct, tempfile\nfile = tempfile.TemporaryFile()\n"
     "fcntl.fcntl(file, 37, struct.pack('hhqqi4x', 1, 0, 0, 0, 0))\n"
     "print('broken' if open('/proc/locks').read() else 'refused')\"",
     "proc_masks"},
    {"see the machine's devices in proc",
     "for d in acpi asound bus driver dynamic_debug pressure scsi; do "
     "[ -n \"$(ls -A /proc/$d 2>/dev/null)\" ] && echo broken $d; done; echo refused",
     "proc_masks"},
    {"see the disks of others in proc",
     "[ -n \"$(ls -A /proc/fs 2>/dev/null)\" ] && echo broken || echo refused", "proc_masks"},
    {"make a device",
     "cd /tmp; for d in 'c 1 3' 'b 254 0' 'b 7 0' 'c 10 232' 'c 1 1'; do "
     "mknod dev$RANDOM $d 2>/dev/null && echo broken $d; done; echo refused"},
    {"find something below /sys", "[ -z \"$(ls -A /sys)\" ] && echo refused || echo broken"},
    {"write below /dev", "(: > /dev/x) 2>/dev/null && echo broken || echo refused"},
    {"find host paths in mountinfo",
     "grep -qE '(^|[ =])/(var|home/|work|dev/loop|tmp/sandgate)|ext4|sandgate' "
     "/proc/self/mountinfo && echo broken || echo refused",
     "host_mounts"},
    {"find a route out",
     "[ $(grep -c . /proc/net/route) -le 1 ] && "
     "[ $(grep -vc lo: /proc/net/dev) -eq 2 ] && echo refused || echo broken",
     "network"},
    {"find the machine's sockets",
     "[ $(grep -c . /proc/net/unix) -le 1 ] && echo refused || echo broken", "network"},
    {"dump core",
     "cd /tmp; ulimit -c unlimited; bash -c 'kill -SEGV $$' 2>/dev/null; "
     "ls core* >/dev/null 2>&1 && echo broken || echo refused"},
    {"raise the nice value",
     "nice -n -5 true 2>&1 | grep -qi denied && echo refused || echo broken"},
    {"lower the chance to be killed",
     "(echo -900 > /proc/self/oom_score_adj) 2>/dev/null && echo broken || echo refused"},
    {"gain by a set-uid program",
     "[ $(id -u) = 0 ] || { echo refused; exit; }; "
     "cp /usr/bin/id ~/suid-id && chown 1000 ~/suid-id && chmod 4755 ~/suid-id && "
     "[ $(~/suid-id -u) = 1000 ] && echo broken || echo refused",
     "nosuid,no_new_privs,landlock,seccomp"},
};

constexpr const char* kCalls =
    "import ctypes, os, socket, struct\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "def call(*a):\n"
    "  return libc.syscall(*[ctypes.c_long(x) if isinstance(x, int) else x for x in a])\n";

// Calls by their numbers on x86-64.
constexpr Attack kPythonAttacks[] = {
    // A kernel without the old TIOCSTI answers EIO, so what counts is whether it was asked.
    {"type into the own terminal by its name",
     "import pty\npid, master = pty.fork()\n"
     "def asked(request):\n"
     "  return call(16, tty, request, b'x') == 0 or ctypes.get_errno() != 1\n"
     "if pid == 0:\n"
     "  tty = os.open('/dev/tty', os.O_RDWR)\n"
     "  os._exit(7 * any(asked(r) for r in (0x5412, 0x541c, 0x5412 | 1 << 32)))\n"
     "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
     "print({0: 'refused', 7: 'broken'}.get(code, code))",
     "seccomp"},
    {"take a terminal from its session",
     "import pty\npid, master = pty.fork()\n"
     "if pid == 0:\n os.write(1, os.ttyname(0).encode())\n os.read(0, 1)\n os._exit(0)\n"
     "name = os.read(master, 64)\nthief = os.fork()\n"
     "if thief == 0:\n os.setsid()\n tty = os.open(name, os.O_RDWR | os.O_NOCTTY)\n"
     " os._exit(7 * (call(16, tty, 0x540e, 1) == 0))\n"
     "code = os.waitstatus_to_exitcode(os.waitpid(thief, 0)[1])\n"
     "os.write(master, b'\\n')\nos.waitpid(pid, 0)\n"
     "print({0: 'refused', 7: 'broken'}.get(code, code))"},
    // A descriptor kept from above the new root leads up as far as there is something above.
    {"leave the root by a kept descriptor",
     "above = os.open('/', os.O_RDONLY)\nroot = os.fstat(above)\n"
     "try:\n os.chroot('/tmp')\n os.fchdir(above)\n for n in range(64): os.chdir('..')\n"
     " os.chroot('.')\nexcept OSError: print('refused')\n"
     "else: print('refused' if os.path.samestat(os.stat('/'), root) else 'broken')",
     "seccomp,capabilities,host_mounts"},
    {"an io_uring",
     "print('broken' if call(425, 8, ctypes.create_string_buffer(256)) >= 0 else "
     "'refused')",
     "seccomp"},
    {"other limits for the agent",
     "import resource as r\n"
     "try:\n"
     "  r.prlimit(1, r.RLIMIT_NOFILE, r.prlimit(1, r.RLIMIT_NOFILE))\n"
     "  print('broken')\n"
     "except OSError: print('refused')",
     "seccomp"},
    {"another turn for the agent",
     // In turn, so that the control changes no more than it must.
     "def done(change, *words):\n"
     "  try: return change(*words) in (None, 0)\n"
     "  except OSError: return False\n"
     "high = 1 << 40\n"
     "print('broken' if done(os.setpriority, os.PRIO_PROCESS, 1, 19) or\n"
     "  done(os.setpriority, os.PRIO_USER, 0, 19) or done(call, 141, high, 1 | high, 19) or\n"
     "  done(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0)) or\n"
     "  done(os.sched_setaffinity, 1, {0}) or done(call, 251, 1, 1, 3 << 13) or\n"
     "  done(call, 251, 3, 0, 3 << 13) else 'refused')",
     "seccomp,capabilities"},
    {"a userfaultfd", "print('broken' if call(323, 1) >= 0 else 'refused')", "seccomp"},
    {"a key in a keyring",
     "print('broken' if call(248, b'user', b'sandgate', b'x', 1, -2) > 0 else 'refused')",
     "seccomp"},
    {"the machine's asynchronous requests",
     "c = ctypes.c_ulong(0)\n"
     "print('broken' if call(206, 1024, ctypes.byref(c)) == 0 else 'refused')",
     "seccomp"},
    {"fixed addresses", "print('broken' if call(135, 0x40000) >= 0 else 'refused')", "seccomp"},
    {"a kernel event socket",
     "try: socket.socket(16, 3, 15); print('broken')\nexcept OSError: print('refused')", "seccomp"},
    {"a packet socket",
     "try: socket.socket(17, 3, 0); print('broken')\nexcept OSError: print('refused')",
     "seccomp,capabilities,network_owner"},
    {"a raw socket",
     "try: socket.socket(2, 3, 255); print('broken')\nexcept OSError: print('refused')",
     "seccomp,capabilities,network_owner"},
    {"a protocol that needs a module",
     "try: socket.socket(2, 2, 136); print('broken')\n"
     "except OSError as e: print('refused' if e.errno == 1 else 'broken')",
     "seccomp"},
    {"a device of the network that needs a module",
     "import fcntl\n"
     "def answer(request):\n"
     "  try: fcntl.ioctl(one, request, bytes(256))\n"
     "  except OSError as e: return e.errno\n"
     "one = socket.socket()\n"
     "asked = 0x8940, 0x8941, *range(0x8980, 0x8984), *range(0x89a0, 0x89a4)\n"
     "print('refused' if all(answer(request) == 65 for request in asked) else 'broken')",
     "seccomp"},
    {"a handle of a file",
     "h = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))\n"
     "m = ctypes.c_int(0)\n"
     "print('broken' if call(303, -100, b'/dev/shm', h, ctypes.byref(m), 0) == 0 else "
     "'refused')",
     "seccomp"},
    {"a debugger of its own child",
     "import signal\np = os.fork()\nif p == 0: signal.pause()\n"
     "print('broken' if call(101, 16, p, 0, 0) == 0 else 'refused'); os.kill(p, 9)",
     "seccomp"},
    {"another's memory by process_vm_readv",
     "print('refused' if call(310, os.getpid(), 0, 0, 0, 0, 0) != 0 else 'broken')", "seccomp"},
    {"a descriptor of another process",
     "f = os.pidfd_open(os.getpid())\n"
     "print('broken' if call(438, f, 0, 0) >= 0 else 'refused')",
     "seccomp"},
    {"huge pages",
     "e = 0\nr = call(319, b'x', 4)\n"
     "print('refused' if r < 0 and ctypes.get_errno() == 1 else 'broken')",
     "seccomp"},
    {"pages that are merged with those of others",
     // By each way to ask for it.
     "libc.mmap.restype = ctypes.c_void_p\n"
     "here = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0))\n"
     "def answer(*a): return call(*a) and ctypes.get_errno()\n"
     "high = 1 << 32\n"
     "answers = answer(28, here, 8192, 12), answer(28, here, 8192, 12 | high), \\\n"
     "  answer(157, 67, 1, 0, 0, 0), answer(157, 67 | high, 1, 0, 0, 0)\n"
     "print('refused' if {*answers} == {22} else 'broken')",
     "seccomp"},
    {"every terminal of the machine",
     "n = []\ntry:\n  for i in range(400): n.append(os.open('/dev/ptmx', os.O_RDWR | "
     "os.O_NOCTTY))\n"
     "except OSError: pass\nprint('broken' if len(n) > 300 else 'refused')",
     "terminals"},
    {"files that signal what happens to them",
     // To stay as they are, but for the one answer that nginx needs.
     "import fcntl, signal\n"
     "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
     "def answer(*a): return call(*a) and ctypes.get_errno()\n"
     "high, on, here = 1 << 32, ctypes.byref(ctypes.c_int(1)), os.pipe()[0]\n"
     "folder, file = os.open('/tmp', 0), os.open('/tmp/leased', os.O_CREAT)\n"
     "refused = answer(72, here, 4 | high, 1 << 13), answer(72, folder, 1026 | high, 4), \\\n"
     "  answer(72, file, 1024 | high, 0), answer(72, file, 1040, 0)\n"
     "accepted = answer(16, here, 0x5452 | high, on), answer(72, here, 8, os.getpid())\n"
     "flags = fcntl.fcntl(here, 3)\n"
     "print('refused' if {*refused} == {22} and {*accepted} == {0} and not flags & 1 << 13\n"
     "  else 'broken')",
     "seccomp"},
    {"urgent bytes",
     // By each call that sends; the last of them with no message.
     "a, b = socket.socketpair()\n"
     "l = socket.create_server(('127.0.0.1', 0))\n"
     "t = socket.create_connection(l.getsockname())\n"
     "def answer(*a): return ctypes.get_errno() if call(*a) < 0 else 0\n"
     "one = ctypes.create_string_buffer(b'x')\n"
     "answers = {answer(44, s.fileno(), one, 1, 1, 0, 0) for s in (a, t)}\n"
     "for s in a, t:\n"
     "  try: s.sendmsg([b'x'], [], socket.MSG_OOB); answers.add(0)\n"
     "  except OSError as e: answers.add(e.errno)\n"
     "answers.add(answer(307, a.fileno(), one, 0, 1 << 32 | 1))\n"
     "print('refused' if answers == {95} and a.send(b'x') == 1 else 'broken')",
     "seccomp"},
    {"calls that hold up a processor",
     // Many operations at once; many futexes; processes that share their handlers of signals, which
     // without the filter fail for the place of a descriptor only; timers with chosen numbers.
     "def answer(*a): return call(*a) and ctypes.get_errno()\n"
     "high, one = 1 << 32, call(64, 0, 1, 0o600)\n"
     "many = ctypes.create_string_buffer(struct.pack('HhH', 0, 1, 0) * 33)\n"
     "few = answer(65, one, many, 32), answer(220, one, many, 32, 0)\n"
     "answers = few, answer(65, one, many, 33), answer(220, one, many, 33 | high, 0), \\\n"
     "  answer(157, 78 | high, 1, 16, 0, 0), answer(56, 0x1900 | high | 17, 0, 1, 0, 0), \\\n"
     "  answer(157, 77 | high, 1, 0, 0, 0)\n"
     "call(66, one, 0, 0)\n"
     "print('refused' if answers == ((0, 0), 7, 7, 22, 1, 22) else 'broken')",
     "seccomp"},
    {"more timers than signals may be queued",
     "t, end = ctypes.c_int(0), os.pipe()\n"
     "def made(uid):\n"
     "  here, there = os.pipe()\n"
     "  if os.fork() == 0:\n"
     "    os.setuid(uid); os.close(end[1])\n"
     "    n = sum(call(222, 1, 0, ctypes.byref(t)) == 0 for i in range(400))\n"
     "    os.write(there, b'%d' % n); os.read(end[0], 1); os._exit(0)\n"
     "  return int(os.read(here, 9))\n"
     "print('broken' if made(0) + made(1000) + made(1001) > 512 else 'refused')",
     "limits"},
    {"more descriptors than allowed",
     "import resource\n"
     "print('broken' if resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1] > 900000 or "
     "resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 1024 else 'refused')"},
    {"the agent, seen from another account",
     "os.setgroups([]); os.setgid(1000); os.setuid(1000)\n"
     "print('broken' if os.path.exists('/proc/1/status') else 'refused')",
     "hidepid"},
};

}  // namespace

std::span<const Attack> attacks() { return kAttacks; }
std::span<const Attack> python_attacks() { return kPythonAttacks; }
const char* python_attack_start() { return kCalls; }

}  // namespace sandgate::test
