#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "gateway/core/fd.hpp"
#include "local/image/store.hpp"
#include "tests/local/namespaces/attacks.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class EscapeTest : public SandboxTest {};

// As the unprivileged account and as the sandbox's root; that each attack can succeed at all is
// shown by WallsTest.
TEST_F(EscapeTest, EveryWallHolds) {
  for (const char* user : {"", "root"}) {
    for (const Attack& attack : attacks()) {
      ExecResult result = shell(attack.line, user);
      EXPECT_EQ(result.out, "refused\n") << attack.what << " as " << (*user ? user : "user") << "\n"
                                         << result.err;
    }
  }
  for (const Attack& attack : python_attacks()) {
    ExecResult result = python(std::string(python_attack_start()) + attack.line, "root");
    EXPECT_EQ(result.out, "refused\n") << attack.what << "\n" << result.err;
  }
  EXPECT_TRUE(ImageStore(node().data_dir() + "/images").verify("debian-12"))
      << "and the image that all share is what it was";
}

// What is looked for inside is there to be found outside.
TEST_F(EscapeTest, TheHostsEnvironmentIsSeenFromTheHost) {
  const auto& all = attacks();
  const auto found = std::find_if(all.begin(), all.end(), [](const Attack& one) {
    return std::string_view(one.what) == "find the host's environment";
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(system(("bash -c \"" + std::string("[ $(") + found->line + ") = broken ]\"").c_str()),
            0);
}

// Inside, nobody may look, so whether the launcher passed something on is seen from the host only.
TEST_F(EscapeTest, TheAgentIsGivenNoEnvironment) {
  const auto environment_of = [](int64_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/environ");
    EXPECT_TRUE(in.is_open());
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_EQ(environment_of(node().record(id()).pid), "");
  EXPECT_NE(environment_of(node().pid()).find("canary-of-the-host"), std::string::npos)
      << "the control: the node, which starts launchers, has one";
}

TEST_F(EscapeTest, NoDescriptorLeaksIn) {
  EXPECT_FALSE(node().leaks_into(id()));
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
  // A directory that is gone, by its name and by a process that still stands in it.
  shell(
      "mkdir ~/gone && ln -s ~/gone ~/by_name && cd ~/gone && { setsid sleep 1000 & } && "
      "ln -sfn /proc/$!/cwd ~/by_process && rmdir ~/gone");
  Command command{.argv = {"/bin/pwd", "-P"}};
  for (const char* gone : {"by_name", "by_process"}) {
    command.cwd = std::string("/home/user/") + gone;
    EXPECT_THROW(node().exec(id(), command), Error) << gone;
  }
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
  output("touch /root/made", "root");
  output("touch ~/made");
  const std::string root = "/proc/" + std::to_string(record.pid) + "/root";
  ASSERT_EQ(stat((root + "/root/made").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, record.id_base) << "on the machine as well";
  ASSERT_EQ(stat((root + "/home/user/made").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, record.id_base + 1000);
}

TEST_F(EscapeTest, TheAgentGetsItsTurnAndGivesNoneOfIt) {
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(node().record(id()).pid)), -20);
  EXPECT_EQ(output("nice"), "0");
  EXPECT_EQ(output("nice", "root"), "0");
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

TEST_F(EscapeTest, MountsStayApart) {
  const std::string before = output("cat /proc/self/mountinfo");
  EXPECT_EQ(before.find("shared:"), std::string::npos);
  EXPECT_EQ(before.find("master:"), std::string::npos);
  TempDirectory directory;
  ASSERT_EQ(mount("sandgate-test", directory.path().c_str(), "tmpfs", 0, nullptr), 0);
  const std::string after = output("cat /proc/self/mountinfo");
  umount2(directory.path().c_str(), MNT_DETACH);
  EXPECT_EQ(before, after);
}

TEST_F(EscapeTest, SetuidProgramsGiveNothing) {
  output("cp /usr/bin/id /usr/local/bin/suid-id && chmod 4755 /usr/local/bin/suid-id", "root");
  EXPECT_EQ(output("/usr/local/bin/suid-id -u"), "1000");
}

TEST_F(EscapeTest, NoMountGivesPrivilegesOrDevices) {
  EXPECT_EQ(output("awk '$6 !~ /nosuid/ {print $5}' /proc/self/mountinfo"), "");
  EXPECT_EQ(output("awk '($5 == \"/\" || $5 == \"/dev/shm\") && $6 !~ /nodev/ {print $5}' "
                   "/proc/self/mountinfo"),
            "");
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
  // Far more than the sandbox may have at a time.
  const std::string program = compile_c(
      "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
      "int main(void) { for (int i = 0; i < 10000; i++) {\n"
      " pid_t p; while ((p = fork()) < 0) usleep(1000);\n"
      " if (p == 0) { fork(); _exit(0); }\n"
      " waitpid(p, 0, 0); }\n"
      "puts(\"over\"); return 0; }\n");
  node().write(id(), "/home/user/orphans", program, 0755);
  EXPECT_EQ(output("~/orphans"), "over");
  EXPECT_EQ(output("for i in $(seq 100); do grep -qs zombie /proc/[0-9]*/status || exit 0; "
                   "sleep 0.05; done; echo left",
                   "root"),
            "");
}

TEST_F(EscapeTest, TheMachineLooksLikeASandbox) {
  EXPECT_EQ(output("uname -n"), "sandbox");
  EXPECT_EQ(output("id -un; pwd"), "user\n/home/user");
  EXPECT_EQ(output("getent hosts localhost | head -1 | cut -d' ' -f1"), "::1");
  EXPECT_EQ(output("cat /proc/self/cgroup | cut -d: -f3 | sort -u"), "/");
}

}  // namespace
}  // namespace sandgate::test
