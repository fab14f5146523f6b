// The positive controls: a launcher that leaves walls out, and attacks that then succeed.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

#include "gateway/core/fd.hpp"
#include "local/namespaces/landlock.hpp"
#include "tests/local/namespaces/attacks.hpp"
#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

class WallsTest : public WeakTest {};

TEST_F(WallsTest, EveryAttackSucceedsWithoutItsWalls) {
  for (const Attack& attack : attacks()) {
    if (attack.walls == nullptr) continue;
    ExecResult result = node().shell(without(attack.walls), attack.line, "root");
    EXPECT_NE(result.out.find("broken"), std::string::npos) << attack.what << "\n"
                                                            << result.out << result.err;
  }
  for (const Attack& attack : python_attacks()) {
    if (attack.walls == nullptr) continue;
    ExecResult result = node().python(without(attack.walls),
                                      std::string(python_attack_start()) + attack.line, "root");
    EXPECT_NE(result.out.find("broken"), std::string::npos) << attack.what << "\n"
                                                            << result.out << result.err;
  }
}

TEST_F(WallsTest, TheProductHasNoSuchChoice) {
  const auto names_it = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    return bytes.find("SANDGATE_WITHOUT") != std::string::npos;
  };
  LocalNode product;
  EXPECT_FALSE(names_it(product.agent_binary()));
  EXPECT_TRUE(names_it(LocalNode::weak_agent()));
  CreateSpec spec = product.spec();
  spec.env["SANDGATE_WITHOUT"] = "seccomp,hidepid";
  EXPECT_EQ(product.shell(product.create(spec), "unshare -Ur true 2>/dev/null; ls /proc/1").out,
            "");
}

// Without the filter and with every capability of its user namespace a sandbox could mount, but
// for Landlock.
TEST_F(WallsTest, LandlockIsASecondNet) {
  if (landlock_abi() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const char* line = "mount -t tmpfs x /mnt 2>&1 | grep -c 'denied\\|not permitted'";
  EXPECT_EQ(node().shell(without("seccomp,capabilities"), line, "root").out, "1\n");
  const int mounts = node().host_state().mounts;
  EXPECT_EQ(node().shell(without("seccomp,capabilities,landlock"), line, "root").out, "0\n");
  EXPECT_EQ(node().host_state().mounts, mounts) << "and yet stays inside";
}

// Whether a mount that the host makes after the sandbox's start is seen inside.
bool later_mount_is_seen(LocalNode& node, const std::string& sandbox, const std::string& place) {
  if (mount("sandgate-later", place.c_str(), "tmpfs", 0, nullptr) != 0) return false;
  const std::string seen = node.shell(sandbox, "grep -c sandgate-later /proc/self/mountinfo").out;
  umount2(place.c_str(), MNT_DETACH);
  return seen == "1\n";
}

// Of mounts that the host shares, the copies in a new user namespace follow it until they are made
// private. The sandboxes are of this test alone: they must be started below the shared mount.
TEST_F(WallsTest, MountsOfTheHostComeInLaterWithoutTheirWall) {
  TempDirectory directory;
  const std::string shared = directory.path(), place = shared + "/later";
  ASSERT_EQ(mount("sandgate-shared", shared.c_str(), "tmpfs", 0, nullptr), 0);
  EXPECT_EQ(mount(nullptr, shared.c_str(), nullptr, MS_SHARED, nullptr), 0);
  EXPECT_EQ(mkdir(place.c_str(), 0755), 0);
  const std::string& following = without("host_mounts,propagation");
  const std::string& apart = without("host_mounts,none");
  EXPECT_TRUE(later_mount_is_seen(node(), following, place));
  EXPECT_FALSE(later_mount_is_seen(node(), apart, place));
  EXPECT_EQ(node().shell(apart, "grep -c sandgate-shared /proc/self/mountinfo").out, "1\n");
  umount2(shared.c_str(), MNT_DETACH);
}

// Who may change its root and kept a descriptor comes to the top of the mounts, and no further.
TEST_F(WallsTest, NothingIsAboveTheRoot) {
  const auto found = std::ranges::find(
      python_attacks(), std::string_view("leave the root by a kept descriptor"), &Attack::what);
  ASSERT_NE(found, python_attacks().end());
  const std::string program = std::string(python_attack_start()) + found->line;
  EXPECT_EQ(node().python(without("seccomp,capabilities"), program, "root").out, "refused\n");
  EXPECT_EQ(node().python(without("seccomp,capabilities,host_mounts"), program, "root").out,
            "broken\n");
}

TEST_F(WallsTest, DescriptorsLeakWithoutTheirWall) {
  EXPECT_TRUE(node().leaks_into(without("descriptors")));
  EXPECT_FALSE(node().leaks_into(without("none")));
}

TEST_F(WallsTest, MountsGivePrivilegesWithoutTheirWall) {
  const char* line = "awk '$6 !~ /nosuid/ {print $5}' /proc/self/mountinfo";
  EXPECT_EQ(node().shell(without("nosuid"), line).out, "/\n");
  EXPECT_EQ(node().shell(without("none"), line).out, "");
}

// Whoever comes to see what the launcher runs finds a copy in memory that nobody can change.
TEST_F(WallsTest, TheLaunchersProgramIsSealed) {
  const char* look = "readlink /proc/1/exe || echo refused";
  EXPECT_EQ(node().shell(without("none"), look, "root").out, "refused\n");
  const std::string& seen = without("dumpable,capabilities");
  EXPECT_EQ(node().shell(seen, look, "root").out, "/memfd:sandgate-agent (deleted)\n");
  const auto seals_of = [](const std::string& path) {
    const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return fcntl(file.get(), F_GET_SEALS);
  };
  EXPECT_EQ(seals_of("/proc/" + std::to_string(node().record(seen).pid) + "/exe"),
            F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  EXPECT_EQ(seals_of(node().agent_binary()), -1) << "the file that it is a copy of";
}

// Names of abstract sockets belong to the network namespace; Landlock's scope holds without it.
TEST_F(WallsTest, AbstractSocketsHaveTwoWalls) {
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "sandgate-walls-" + std::to_string(getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address),
                 static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
            0);
  ASSERT_EQ(listen(listener.get(), 8), 0);
  const std::string connect =
      "import socket\ns = socket.socket(socket.AF_UNIX)\n"
      "try: s.connect('\\0" +
      name + "'); print('broken')\nexcept OSError: print('refused')";
  EXPECT_EQ(node().python(without("landlock"), connect).out, "refused\n");
  EXPECT_EQ(node().python(without("network,landlock"), connect).out, "broken\n");
  if (landlock_abi() >= 6) {
    EXPECT_EQ(node().python(without("network"), connect).out, "refused\n");
  }
}

TEST_F(WallsTest, SharedMemoryOfTheHostIsNearWithoutItsWall) {
  const int segment = shmget(0x5a4e, 4096, IPC_CREAT | 0666);
  ASSERT_GE(segment, 0);
  const std::string key = std::to_string(0x5a4e);
  const std::string find = "awk '$1 == " + key + "' /proc/sysvipc/shm | wc -l";
  EXPECT_EQ(node().shell(without("ipc"), find).out, "1\n");
  EXPECT_EQ(node().shell(without("none"), find).out, "0\n");
  shmctl(segment, IPC_RMID, nullptr);
}

TEST_F(WallsTest, EntriesOfSharedMemoryAreFew) {
  const char* make =
      "import os\nmade = 0\n"
      "try:\n while made < 3000: open('/dev/shm/%d' % made, 'w').close(); made += 1\n"
      "except OSError: pass\n"
      "for n in range(made): os.unlink('/dev/shm/%d' % n)\n"
      "print(made if made == 3000 else 'few' if made > 1000 else 'none')";
  EXPECT_EQ(node().python(without("none"), make).out, "few\n");
  EXPECT_EQ(node().python(without("shm_inodes"), make).out, "3000\n");
}

TEST_F(WallsTest, OptionsOfASocketAreShort) {
  const char* send =
      "import socket\na, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
      "for size in (2000, 8000):\n"
      " try: a.sendmsg([b'x'], [(12345, 1, bytes(size))]); print(size)\n"
      " except OSError: print('refused')";
  EXPECT_EQ(node().python(without("socket_options"), send).out, "2000\n8000\n");
  const char* look = "test -e /proc/sys/net/core/optmem_max && echo there";
  if (node().shell(without("none"), look).out.empty())
    GTEST_SKIP() << "each network has a limit of its own since Linux 6.8";
  EXPECT_EQ(node().python(without("none"), send).out, "2000\nrefused\n");
}

// What the kernel counts per user is counted for each sandbox on its own.
struct Hoard {
  const char* what;
  const char* program;  // takes all there is, says "full", and holds it for a while
  const char* probe;  // prints "ok" when there is some left
};
constexpr Hoard kHoards[] = {
    {"inotify instances",
     "import ctypes, time\nl = ctypes.CDLL(None)\nn = 0\n"
     "while n < 900 and l.inotify_init() >= 0: n += 1\n"
     "print('full', flush=True); time.sleep(3)",
     "import ctypes\nprint('ok' if ctypes.CDLL(None).inotify_init() >= 0 else 'none')"},
    {"message queues",
     "import ctypes, time, os\nl = ctypes.CDLL(None)\n"
     "for n in range(40):\n"
     "  if l.syscall(240, b'q%d' % n, os.O_CREAT | os.O_RDWR, 0o600, 0) < 0: break\n"
     "print('full', flush=True); time.sleep(3)",
     "import ctypes, os\nl = ctypes.CDLL(None)\n"
     "print('ok' if l.syscall(240, b'probe', os.O_CREAT | os.O_RDWR, 0o600, 0) >= 0 else 'none')"},
};

std::string probe_beside(LocalNode& node, const std::string& hoarder, const std::string& sibling,
                         const Hoard& hoard) {
  const std::string background =
      "python3 /tmp/hoard >/tmp/said 2>&1 & for i in $(seq 100); do grep -q full "
      "/tmp/said 2>/dev/null && break; sleep 0.05; done; cat /tmp/said";
  node.write(hoarder, "/tmp/hoard", hoard.program);
  EXPECT_EQ(node.shell(hoarder, background).out, "full\n") << hoard.what;
  const std::string said = node.python(sibling, hoard.probe).out;
  node.shell(hoarder, "pkill python3; rm -f /tmp/said; true");
  return said;
}

TEST_F(WallsTest, NobodyHoardsWhatIsCountedPerUser) {
  for (const Hoard& hoard : kHoards) {
    EXPECT_EQ(probe_beside(node(), without("none"), without("none,"), hoard), "ok\n") << hoard.what;
    EXPECT_EQ(probe_beside(node(), without("owner"), without("owner,"), hoard), "none\n")
        << hoard.what;
  }
}

}  // namespace
}  // namespace sandgate::test
