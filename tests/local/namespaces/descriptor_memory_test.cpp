// What a sandbox holds behind descriptors, where control groups do not count it as memory, and the
// epoll items that others would have to go through.
#include <signal.h>

#include <algorithm>

#include "gateway/core/files.hpp"
#include "gateway/core/ids.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/node/watch/descriptor_usage.hpp"
#include "local/node/watch/epoll_items.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

// For emulated machines; most take two seconds.
constexpr std::chrono::minutes kTimeout{1};

constexpr const char* kPreamble =
    "import array, ctypes, fcntl, os, resource, select, socket, struct, time\n"
    "most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n"
    "os.makedirs('/tmp/full', exist_ok=True)\n"
    "for i in range(330): open(f'/tmp/full/{i}', 'w').close()\n"
    "libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(65536)\n"
    "def directory():\n"
    "    one = os.open('/tmp/full', os.O_RDONLY)\n"
    "    libc.getdents64(one, room, len(room))\n"
    "    return one\n"
    "def locked(path, count, command=fcntl.F_SETLK):\n"
    "    one = os.open(path, os.O_CREAT | os.O_RDWR)\n"
    "    for i in range(count):\n"
    "        fcntl.fcntl(one, command, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 2 * i, 1, 0))\n"
    "    return one\n"
    "def bound(part, number):\n"
    "    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
    "    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
    "    one.bind((f'127.0.0.{part}', 2000 + number))\n"
    "    return one\n"
    "def watching(descriptors, count):\n"
    "    instances = [select.epoll() for i in range(count)]\n"
    "    for one in instances:\n"
    "        for descriptor in descriptors: one.register(descriptor, select.EPOLLIN)\n"
    "    return instances\n"
    "def sent(socket_, *descriptors):\n"
    "    socket.send_fds(socket_, [b'x'], descriptors)\n"
    "def hold():\n"
    "    open('/tmp/holds', 'w').close()\n"
    "    time.sleep(900)\n"
    "    os._exit(0)\n";

class DescriptorMemoryTest : public SandboxTest {
 protected:
  ~DescriptorMemoryTest() override {
    if (node_pid_ > 0) kill(node_pid_, SIGCONT);
  }
  // The watch is in the node; what sandboxes do goes on without it.
  void stop_node() {
    node_pid_ = node().pid();
    kill(node_pid_, SIGSTOP);
  }
  void let_node_go_on() { kill(node_pid_, SIGCONT); }

  // Returns when the program holds what it is to hold.
  static void start(const std::string& id, const std::string& program) {
    Command command;
    command.process_id = make_id("pr");
    command.argv = {"/usr/bin/python3", "-c", kPreamble + program + "hold()\n"};
    command.background = true;
    run(node().provider().exec(id, std::move(command)));
    EXPECT_TRUE(eventually([&] { return holds(id); }, std::chrono::minutes(5))) << program;
  }
  static bool holds(const std::string& id) {
    return node().shell(id, "test -e /tmp/holds && grep -qs python /proc/[0-9]*/comm").exit_code ==
           0;
  }
  // Some looks in a row, because one may miss a program that has just taken another process.
  static bool loses_all(const std::string& id) {
    int quiet = 0;
    return eventually([&] { return (quiet = holds(id) ? 0 : quiet + 1) == 5; }, kTimeout);
  }
  static int64_t slab_mib() {
    return stat_value(read_text_file("/proc/meminfo").value_or(""), "SUnreclaim:") >> 10;
  }
  void expect_grown(int64_t before) {
    EXPECT_GT(slab_mib() - before, 260) << "the control: it was no bomb";
  }

 private:
  pid_t node_pid_ = 0;
};

// Three programs of 6000 directories, of which each holds 20 KiB or so.
constexpr const char* kDirectories =
    "def fill(): return [directory() for i in range(6000)]\n"
    "for i in range(2):\n"
    "    here, there = os.pipe()\n"
    "    if os.fork() == 0: kept = fill(); os.write(there, b'x'); time.sleep(900)\n"
    "    os.read(here, 1)\n"
    "kept = fill()\n";

// Four programs of 5000 sockets; each has 2 KiB for those that it would share its port with.
constexpr const char* kSockets =
    "def fill(part): return [bound(part, i) for i in range(5000)]\n"
    "for part in (2, 3, 4):\n"
    "    here, there = os.pipe()\n"
    "    if os.fork() == 0: kept = fill(part); os.write(there, b'x'); time.sleep(900)\n"
    "    os.read(here, 1)\n"
    "kept = fill(1)\n";

TEST_F(DescriptorMemoryTest, WhoHoldsTooMuchLosesItsPrograms) {
  const std::string directories = node().create(), locks = node().create(),
                    sockets = node().create(), usual = node().create();
  const int64_t before = slab_mib();
  stop_node();
  start(directories, kDirectories);
  start(locks, "kept = [locked(f'/tmp/{i}', 2000, 37) for i in range(100)]\n");
  start(sockets, kSockets);
  start(usual,
        "kept = [directory() for i in range(200)] + [locked('/tmp/locked', 3000)]\n"
        "open_ports = [bound(1, i) for i in range(1000)]\n"
        "pairs = [socket.socketpair() for i in range(20)]\n"
        "for pair in pairs: sent(pair[0], *kept[:2])\n"
        "for i in range(20):\n"
        "    if os.fork() == 0: time.sleep(900)\n");
  expect_grown(before);
  let_node_go_on();
  EXPECT_TRUE(loses_all(directories));
  EXPECT_TRUE(loses_all(locks));
  EXPECT_TRUE(loses_all(sockets));
  EXPECT_TRUE(holds(usual)) << "the other control";
  EXPECT_TRUE(eventually([&] { return slab_mib() - before < 130; }, kTimeout));
  for (const std::string& id : {directories, locks, sockets, usual}) {
    EXPECT_EQ(node().shell(id, "echo alive").out, "alive\n");
    run(node().provider().kill(id));
  }
}

// Two programs give each other what they hold all the time; a third lives in a new process each
// time.
TEST_F(DescriptorMemoryTest, MovingThemAboutDoesNotHelp) {
  const std::string mover = node().create();
  const int64_t before = slab_mib();
  stop_node();
  start(mover,
        "def fill(): return [directory() for i in range(6000)]\n"
        "here, there = os.pipe()\n"
        "def exchange(end):\n"
        "    kept = fill(); os.write(there, b'x')\n"
        "    while True:\n"
        "        sent(end, *kept[:50])\n"
        "        for one in kept[:50]: os.close(one)\n"
        "        kept = kept[50:] + socket.recv_fds(end, 1, 50)[1]\n"
        "for end in socket.socketpair():\n"
        "    if os.fork() == 0: exchange(end)\n"
        "if os.fork() == 0:\n"
        "    kept = fill(); os.write(there, b'x')\n"
        "    while True:\n"
        "        if os.fork() != 0: os._exit(0)\n"
        "for i in range(3): os.read(here, 1)\n");
  expect_grown(before);
  let_node_go_on();
  EXPECT_TRUE(loses_all(mover));
  EXPECT_TRUE(eventually([&] { return slab_mib() - before < 130; }, kTimeout));
  run(node().provider().kill(mover));
}

// Nobody sees what is in sockets that are in flight themselves.
TEST_F(DescriptorMemoryTest, NothingIsHiddenInFlight) {
  const std::string hider = node().create();
  const int64_t before = slab_mib();
  stop_node();
  start(hider,
        "carriers = [socket.socketpair() for i in range(4)]\n"
        "kept = []\n"
        "for carrier in carriers:\n"
        "    hidden = socket.socketpair()\n"
        "    for i in range(80):\n"
        "        some = [directory() for i in range(50)]\n"
        "        sent(hidden[0], *some)\n"
        "        for one in some: os.close(one)\n"
        "    sent(carrier[0], hidden[1].fileno())\n"
        "    hidden[1].close()\n"
        "    kept.append(hidden[0])\n");
  expect_grown(before);
  let_node_go_on();
  EXPECT_TRUE(loses_all(hider));
  EXPECT_TRUE(eventually([&] { return slab_mib() - before < 130; }, kTimeout));
  EXPECT_EQ(node().shell(hider, "echo alive").out, "alive\n");
  run(node().provider().kill(hider));
}

// They take little memory, so it is not that by which they are found. As many are nothing unusual
// if they watch different files, nor if several processes share them.
TEST_F(DescriptorMemoryTest, WhoWatchesOneDescriptorTooOftenLosesItsPrograms) {
  const std::string watcher = node().create(), usual = node().create();
  const int64_t before = slab_mib();
  stop_node();
  start(watcher,
        "one = os.eventfd(0)\n"
        "copies = [os.dup(one) for i in range(12000)]\n"
        "kept = watching(copies, 3)\n");
  start(usual,
        "def reading():\n"
        "    here, there = os.pipe()\n"
        "    os.close(there)\n"
        "    return here\n"
        "kept = watching([reading() for i in range(12000)], 3)\n"
        "for i in range(3):\n"
        "    if os.fork() == 0: time.sleep(900)\n");
  EXPECT_GT(epoll_items_of_machine(), 2 * DescriptorUsage::kMaxItemsOfOne)
      << "the control: they are there";
  EXPECT_LT(slab_mib() - before, 128);
  let_node_go_on();
  EXPECT_TRUE(loses_all(watcher));
  EXPECT_TRUE(holds(usual)) << "the other control";
  for (const std::string& id : {watcher, usual}) {
    EXPECT_EQ(node().shell(id, "echo alive").out, "alive\n");
    run(node().provider().kill(id));
  }
}

// A file may be opened often, and there may be many locks, but each descriptor of a file that is
// closed goes through its locks: a program with 40 000 took three minutes to die.
TEST_F(DescriptorMemoryTest, WhoLocksOneFileTooOftenLosesItsPrograms) {
  const std::string locker = node().create(), usual = node().create();
  stop_node();
  start(locker,
        "def shared():\n"
        "    one = os.open('/tmp/locked', os.O_CREAT | os.O_RDWR)\n"
        "    fcntl.flock(one, fcntl.LOCK_SH)\n"
        "    return one\n"
        "kept = [shared() for i in range(6000)]\n");
  start(usual,
        "kept = [locked(f'/tmp/{i}', 1) for i in range(6000)] + [locked('/tmp/one', 3000)]\n"
        "copies = [os.dup(os.open('/tmp', os.O_RDONLY)) for i in range(1000)]\n");
  let_node_go_on();
  EXPECT_TRUE(loses_all(locker));
  EXPECT_TRUE(holds(usual)) << "the control";
  for (const std::string& id : {locker, usual}) {
    EXPECT_EQ(node().shell(id, "echo alive").out, "alive\n");
    run(node().provider().kill(id));
  }
}

// All files without a name are one to the kernel: who closes an eventfd, wherever that is, goes
// through the locks of all.
TEST_F(DescriptorMemoryTest, WhoLocksWhatHasNoNameLosesItsPrograms) {
  const std::string locker = node().create(), usual = node().create();
  stop_node();
  start(locker,
        "one = os.eventfd(0)\n"
        "for i in range(3000):\n"
        "    fcntl.fcntl(one, fcntl.F_SETLK, struct.pack('hhqqi4x', 1, 0, 2 * i, 1, 0))\n");
  start(usual, "kept = [locked('/tmp/locked', 3000)], os.eventfd(0)\n");
  let_node_go_on();
  EXPECT_TRUE(loses_all(locker));
  EXPECT_TRUE(holds(usual)) << "the control";
  for (const std::string& id : {locker, usual}) run(node().provider().kill(id));
}

// An epoll instance that was sent to a socket is in nobody's table of descriptors.
TEST_F(DescriptorMemoryTest, NoEpollInstanceIsHiddenInFlight) {
  if (epoll_items_of_machine() == kUnknownItems)
    GTEST_SKIP() << "/sys/kernel/slab counts no epoll items";
  const std::string hider = node().create();
  stop_node();
  start(hider,
        "here, there = os.pipe()\n"
        "copies = [os.dup(here) for i in range(15000)]\n"
        "carrier = socket.socketpair()\n"
        "for instance in watching(copies, 10): sent(carrier[0], instance.fileno())\n"
        "del instance\n");
  EXPECT_GT(epoll_items_of_machine(), 140'000) << "the control: they are there";
  let_node_go_on();
  EXPECT_TRUE(loses_all(hider));
  EXPECT_EQ(node().shell(hider, "echo alive").out, "alive\n");
  run(node().provider().kill(hider));
}

// What is killed while it is paused would die only when it goes on.
TEST_F(DescriptorMemoryTest, WhoIsPausedEndsWhole) {
  const std::string paused = node().create(), bomb = node().create();
  start(paused, "kept = [directory() for i in range(1700)]\n");
  run(node().provider().pause(paused, Keeps::memory));
  const auto is_there = [&] {
    return std::ranges::any_of(run(node().provider().list()), [&](const BackendSandbox& sandbox) {
      return sandbox.backend_id == paused;
    });
  };
  const int64_t before = slab_mib();
  stop_node();
  start(bomb, kDirectories);
  expect_grown(before);
  let_node_go_on();
  EXPECT_TRUE(loses_all(bomb));
  EXPECT_TRUE(eventually([&] { return !is_there(); }, kTimeout));
  run(node().provider().kill(bomb));
}

}  // namespace
}  // namespace sandgate::test
