#include <fcntl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "local/namespaces/fd.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class EscapeTest : public SandboxTest {};

struct Attack {
  const char* what;
  const char* line;  // for bash; prints "refused" when the wall holds
};

// Tried as the unprivileged account and as the sandbox's root.
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
     ">/dev/null 2>&1 && echo broken || echo refused"},
    {"go to the agent's root", "ls /proc/1/root/ >/dev/null 2>&1 && echo broken || echo refused"},
    {"mount", "mount -t tmpfs x /mnt 2>/dev/null && echo broken || echo refused"},
    {"remount proc writable",
     "mount -o remount,rw /proc/sys 2>/dev/null && echo broken || echo refused"},
    {"unmount a mask", "umount /proc/keys 2>/dev/null && echo broken || echo refused"},
    {"a user namespace of its own", "unshare -Ur true 2>/dev/null && echo broken || echo refused"},
    {"mount control groups",
     "unshare -UrmC mount -t cgroup -o memory x /mnt 2>/dev/null && "
     "echo broken || echo refused"},
    {"chroot",
     "chroot /tmp true 2>/dev/null; chroot / true 2>/dev/null && echo broken || "
     "echo refused"},
    {"enter pid 1's namespaces", "nsenter -t 1 -a true 2>/dev/null && echo broken || echo refused"},
    {"rename the machine", "hostname evil 2>/dev/null && echo broken || echo refused"},
    {"set the clock", "date -s 2001-01-01 >/dev/null 2>&1 && echo broken || echo refused"},
    {"read the kernel's log", "dmesg 2>/dev/null | grep -q . && echo broken || echo refused"},
    {"write files of sysctl",
     "for f in $(find /proc/sys -type f 2>/dev/null | head -400); do "
     "(: > $f) 2>/dev/null && echo broken $f; done; echo refused"},
    {"speak to the kernel through proc",
     "for f in sysrq-trigger kcore kmsg sys/kernel/core_pattern sys/kernel/modprobe "
     "sys/vm/drop_caches sys/kernel/hostname irq/0/smp_affinity; do "
     "(echo h > /proc/$f) 2>/dev/null && [ ! -c /proc/$f ] && echo broken $f; done; echo refused"},
    {"make a device",
     "cd /tmp; for d in 'c 1 3' 'b 254 0' 'b 7 0' 'c 10 232' 'c 1 1'; do "
     "mknod dev$RANDOM $d 2>/dev/null && echo broken $d; done; echo refused"},
    {"find something below /sys", "[ -z \"$(ls -A /sys)\" ] && echo refused || echo broken"},
    {"write below /dev", "(: > /dev/x) 2>/dev/null && echo broken || echo refused"},
    {"find host paths in mountinfo",
     "grep -E '(^|[ =])/(var|home/|work|dev/loop|tmp/sandgate)|ext4|sandgate' /proc/self/mountinfo "
     "&& echo broken || "
     "echo refused"},
    {"find a route out",
     "[ $(grep -c . /proc/net/route) -le 1 ] && "
     "[ $(grep -vc lo: /proc/net/dev) -eq 2 ] && echo refused || echo broken"},
    {"dump core", "ulimit -c unlimited 2>/dev/null && echo broken || echo refused"},
    {"raise the nice value",
     "nice -n -5 true 2>&1 | grep -qi denied && echo refused || echo broken"},
};

TEST_F(EscapeTest, EveryWallHolds) {
  for (const char* user : {"", "root"}) {
    for (const Attack& attack : kAttacks) {
      ExecResult result = shell(attack.line, user);
      EXPECT_EQ(result.out, "refused\n") << attack.what << " as " << (*user ? user : "user") << "\n"
                                         << result.err;
    }
  }
}

TEST_F(EscapeTest, NoDescriptorLeaksIn) {
  EXPECT_EQ(
      python("import os\nprint(sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1])").out,
      "[0, 1, 2]\n");
}

TEST_F(EscapeTest, AWorkingDirectoryOutsideIsRefused) {
  shell(
      "mkdir -p ~/d; ln -sfn ../../../../.. ~/up; for i in $(seq 3 64); do "
      "ln -sfn /proc/self/fd/$i ~/fd$i; done");
  for (int fd = 3; fd < 64; ++fd) {
    Command command{.argv = {"/bin/pwd", "-P"}};
    command.cwd = "/proc/self/fd/" + std::to_string(fd);
    EXPECT_THROW(node().exec(id(), command), Error) << fd;
    command.cwd = "/home/user/fd" + std::to_string(fd);
    EXPECT_THROW(node().exec(id(), command), Error) << fd;
  }
  Command command{.argv = {"/bin/pwd", "-P"}};
  command.cwd = "/home/user/up";
  EXPECT_EQ(node().exec(id(), command).out, "/\n");
}

TEST_F(EscapeTest, RootInsideIsNobodyOutside) {
  JournalRecord record = node().record(id());
  EXPECT_GE(record.id_base, 100000u);
  struct stat status {};
  ASSERT_EQ(stat(("/proc/" + std::to_string(record.pid)).c_str(), &status), 0);
  std::ifstream in("/proc/" + std::to_string(record.pid) + "/status");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_NE(text.find("Uid:\t" + std::to_string(record.id_base)), std::string::npos);
  std::string other = node().create();
  EXPECT_NE(node().record(other).id_base, record.id_base);
  run(node().provider().kill(other));
}

TEST_F(EscapeTest, EveryNamespaceIsItsOwn) {
  std::string other = node().create();
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    std::string link = std::string("/proc/self/ns/") + name;
    std::string ours = std::filesystem::read_symlink(link);
    std::string theirs = output("readlink " + link);
    EXPECT_NE(theirs, ours) << name;
    EXPECT_NE(theirs + "\n", node().shell(other, "readlink " + link).out) << name;
  }
  run(node().provider().kill(other));
}

TEST_F(EscapeTest, NoCapabilityForTheAccountFewForRoot) {
  const char* line = "grep -E '^(Cap|NoNewPrivs|Seccomp):?' /proc/self/status | tr -d '\\t\\n'";
  EXPECT_EQ(output(line).find("CapInh:0000000000000000CapPrm:0000000000000000"
                              "CapEff:0000000000000000CapBnd:0000000000000000"
                              "CapAmb:0000000000000000NoNewPrivs:1Seccomp:2"),
            0u)
      << output(line);
  EXPECT_NE(output(line, "root")
                .find("CapEff:00000000000004fbCapBnd:00000000000004fb"
                      "CapAmb:0000000000000000NoNewPrivs:1"),
            std::string::npos)
      << output(line, "root");
}

TEST_F(EscapeTest, SetuidProgramsGiveNothing) {
  output("cp /usr/bin/id /usr/local/bin/suid-id && chmod 4755 /usr/local/bin/suid-id", "root");
  EXPECT_EQ(output("/usr/local/bin/suid-id -u"), "1000");
}

TEST_F(EscapeTest, WritesStayInTheSandbox) {
  output("echo changed > /etc/hostname; rm -f /usr/bin/less", "root");
  std::string tree = node().data_dir() + "/images/trees";
  for (const auto& entry : std::filesystem::directory_iterator(tree)) {
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "usr/bin/less"));
    std::ifstream in(entry.path() / "etc/hostname");
    std::string name;
    in >> name;
    EXPECT_EQ(name, "sandbox");
  }
  std::string other = node().create();
  EXPECT_EQ(node().shell(other, "cat /etc/hostname").out, "sandbox\n");
  run(node().provider().kill(other));
}

TEST_F(EscapeTest, AbstractSocketsOfTheHostAreFar) {
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = "sandgate-escape-" + std::to_string(getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ExecResult result =
      python("import socket\ns=socket.socket(socket.AF_UNIX)\ntry:\n s.connect('\\0" + name +
             "')\n print('broken')\nexcept OSError as e:\n print('refused')");
  EXPECT_EQ(result.out, "refused\n");
}

TEST_F(EscapeTest, SharedMemoryOfTheHostIsFar) {
  int segment = shmget(0x5a4d, 4096, IPC_CREAT | 0666);
  ASSERT_GE(segment, 0);
  EXPECT_EQ(output("[ $(grep -c . /proc/sysvipc/shm) -eq 1 ] && echo refused", "root"), "refused");
  shmctl(segment, IPC_RMID, nullptr);
}

TEST_F(EscapeTest, KillingEverybodyLeavesTheAgent) {
  for (const char* user : {"", "root"}) {
    shell("kill -9 -1; kill -9 1; kill -TERM 1; kill -HUP 1", user);
    EXPECT_EQ(output("echo alive"), "alive");
  }
}

TEST_F(EscapeTest, OrphansAreReaped) {
  shell("for i in $(seq 100); do (true & ) ; done");
  EXPECT_EQ(output("sleep 0.2; grep -l zombie /proc/[0-9]*/status 2>/dev/null | wc -l", "root"),
            "0");
}

TEST_F(EscapeTest, TheMachineLooksLikeASandbox) {
  EXPECT_EQ(output("uname -n"), "sandbox");
  EXPECT_EQ(output("id -un; pwd"), "user\n/home/user");
  EXPECT_EQ(output("getent hosts localhost | head -1 | cut -d' ' -f1"), "::1");
  EXPECT_EQ(output("cat /proc/self/cgroup | cut -d: -f3 | sort -u"), "/");
}

}  // namespace
}  // namespace sandgate::test
