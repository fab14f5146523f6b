// Kernel memory that a sandbox could hold although no control group counts it.
#include <cstdlib>
#include <filesystem>

#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

class UnchargedMemoryTest : public SandboxTest {
 protected:
  static void TearDownTestSuite() {
    delete weak_;
    weak_ = nullptr;
    SandboxTest::TearDownTestSuite();
  }
  // What a program prints in a sandbox without this measure.
  static std::string unprotected(const std::string& measure, const std::string& program) {
    if (weak_ == nullptr) weak_ = new WeakNode;
    return weak_->node().python(weak_->without(measure), program).out;
  }
  static std::string unfiltered(const std::string& program) {
    return unprotected("seccomp", program);
  }

 private:
  static WeakNode* weak_;
};

WeakNode* UnchargedMemoryTest::weak_ = nullptr;

// Files in memory keep access control lists of up to 64 KiB; an attribute of any name and any file
// is held to the same length.
TEST_F(UnchargedMemoryTest, AttributesOfFilesAreShort) {
  const std::string attempts =
      "import errno, os\n"
      "path = '/tmp/with-attributes'\n"
      "file = os.open(path, os.O_CREAT | os.O_RDWR)\n"
      "def tried(size, place, **how):\n"
      "    try: os.setxattr(place, 'user.note', bytes(size), **how)\n"
      "    except OSError as error: return errno.errorcode[error.errno]\n"
      "    return 'set'\n"
      "for size in (1000, 1001):\n"
      "    print(tried(size, path), tried(size, path, follow_symlinks=False), tried(size, file))\n";
  EXPECT_EQ(python(attempts).out, "set set set\nENOSPC ENOSPC ENOSPC\n");
  EXPECT_EQ(unfiltered(attempts), "set set set\nset set set\n") << "the control";
}

// No group is charged for a connection's buffers before it is accepted.
TEST_F(UnchargedMemoryTest, WhatNobodyAcceptsStaysSmall) {
  if (python("open('/proc/sys/net/core/somaxconn')").exit_code != 0)
    GTEST_SKIP() << "this kernel lets no sandbox's network have a somaxconn of its own";
  const std::string attempts =
      "import socket, time\n"
      "s = socket.socket()\n"
      "s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)\n"
      "s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1 << 22)\n"
      "s.bind(('127.0.0.1', 0)); s.listen(65535)\n"
      "kept = []\n"
      "for i in range(300):\n"
      "    kept.append(socket.socket()); kept[-1].setblocking(False)\n"
      "    kept[-1].connect_ex(s.getsockname())\n"
      "port = ':%04X' % s.getsockname()[1]\n"
      "def waiting():\n"
      "    rows = [line.split() for line in open('/proc/net/tcp')]\n"
      "    return next(int(row[4].split(':')[1], 16) for row in rows\n"
      "                if row[3] == '0A' and row[1].endswith(port))\n"
      "end = time.monotonic() + 10\n"
      "while waiting() < 257 and time.monotonic() < end: pass\n"
      "print(waiting(), s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))\n"
      "print(open('/proc/sys/net/ipv4/tcp_rmem').read().split()[2])\n";
  EXPECT_EQ(python(attempts).out, "257 16384\n1048576\n");
  EXPECT_EQ(unfiltered(attempts).find("257 16384\n"), std::string::npos) << "the control";
}

// Where the kernel does not cut each queue to 256, the long ones take the room of several.
TEST_F(UnchargedMemoryTest, WhatMayWaitIsBoundedInAll) {
  const std::string flood =
      "import errno, os, socket\n"
      "cut = os.path.exists('/proc/sys/net/core/somaxconn')\n"
      "def flood(backlog):\n"
      "    kept = []\n"
      "    try:\n"
      "        for i in range(300):\n"
      "            kept.append(socket.socket()); kept[-1].bind(('127.0.0.1', 0))\n"
      "            kept[-1].listen(backlog)\n"
      "    except OSError as error: assert error.errno == errno.EMFILE, error\n"
      "    return len(kept) - 1\n"
      "print(flood(65535) == (64 if cut else 4), flood(511) == (64 if cut else 32), flood(100))\n";
  EXPECT_EQ(python(flood).out, "True True 64\n");
}

// A file in flight between Unix sockets that are gone is closed by a thread of the kernel, which
// closes those of all sandboxes, and frees their disks, one after the other.
TEST_F(UnchargedMemoryTest, WhoClosesASocketDoesNotWaitForItsPeer) {
  const auto closing = [](const char* seconds) {
    return "import socket, struct, time\n"
           "listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()\n"
           "s = socket.socket(); s.connect(listener.getsockname()); s.setblocking(False)\n"
           "peer = listener.accept()[0]\n"
           "try:\n"
           "    while True: s.send(bytes(65536))\n"
           "except BlockingIOError: pass\n"
           "lingering = struct.pack('ii', 1, " +
           std::string(seconds) +
           ")\n"
           "s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, lingering)\n"
           "begin = time.monotonic(); s.close(); print('after', time.monotonic() - begin)\n";
  };
  const auto waited = [](const std::string& out) {
    return out.starts_with("after ") ? std::atof(out.c_str() + 6) : -1;
  };
  const double with = waited(python(closing("60")).out), without = waited(unfiltered(closing("2")));
  EXPECT_GE(with, 0);
  EXPECT_LT(with, 30);
  EXPECT_GE(without, 1.9) << "the control";
}

// A thread that waits holds a place for each descriptor that it waits for.
TEST_F(UnchargedMemoryTest, NobodyWaitsForManyDescriptorsAtOnce) {
  const std::string attempts =
      "import ctypes, errno, resource\n"
      "most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
      "resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "none, moment = b'\\xff' * 8 * 1025, bytes(16)\n"
      "def tried(call, *words):\n"
      "    return 'waited' if call(*words) == 0 else errno.errorcode[ctypes.get_errno()]\n"
      "for count in (1024, 1025):\n"
      "    print(tried(libc.poll, none, count, 0), tried(libc.ppoll, none, count, moment, None),\n"
      "          tried(libc.select, count, None, None, None, moment),\n"
      "          tried(libc.pselect, count, None, None, None, moment, None))\n";
  const std::string waited = "waited waited waited waited\n";
  EXPECT_EQ(python(attempts).out, waited + "EINVAL EINVAL EINVAL EINVAL\n");
  EXPECT_EQ(unfiltered(attempts), waited + waited) << "the control";
}

// The kernel remembers something of each page that it may merge, and how long it takes to write to
// a merged one tells that somebody else has the same contents.
TEST_F(UnchargedMemoryTest, NoPageIsMergedWithThoseOfOthers) {
  const std::string attempts =
      "import ctypes, errno\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "def call(*words): return libc.syscall(*map(ctypes.c_long, words))\n"
      "libc.syscall.restype = ctypes.c_long\n"
      "page = call(9, 0, 4096, 3, 0x22, -1, 0)\n"
      "for advice in (4, 12, 12 | 1 << 40):\n"
      "    done = call(28, page, 4096, advice)\n"
      "    print('taken' if done == 0 else errno.errorcode[ctypes.get_errno()])\n";
  EXPECT_EQ(python(attempts).out, "taken\nEINVAL\nEINVAL\n");
  if (!std::filesystem::exists("/sys/kernel/mm/ksm"))
    GTEST_SKIP() << "no control: this kernel merges no pages";
  EXPECT_EQ(unfiltered(attempts), "taken\ntaken\ntaken\n") << "the control";
}

// A UDP socket gathers up to 64 KiB before it sends, and keeps that when it is disconnected.
constexpr const char* kGather =
    "import ctypes, errno, socket\n"
    "libc, nowhere = ctypes.CDLL(None), bytes(16)\n"
    "kept = []\n"
    "try:\n"
    "    while len(kept) < 900:\n"
    "        kept.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))\n"
    "        kept[-1].sendto(bytes(60000), socket.MSG_MORE, ('127.0.0.1', 9))\n"
    "        libc.connect(kept[-1].fileno(), nowhere, 16)\n"
    "except OSError as error: assert error.errno == errno.EMFILE, error\n"
    "print(len(kept))\n";

TEST_F(UnchargedMemoryTest, FewSocketsGatherDatagrams) {
  const ExecResult result = python(kGather);
  const int sockets = std::atoi(result.out.c_str());
  EXPECT_GT(sockets, 400) << result.out << result.err;
  EXPECT_LE(sockets, 513);
  EXPECT_EQ(unfiltered(kGather), "900\n") << "the control";
  const char* cork =
      "import socket\n"
      "try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).setsockopt(17, 1, 1)\n"
      "except OSError as error: print(error.errno)\n"
      "else: print('set')\n";
  EXPECT_EQ(python(cork).out, "1\n");
  EXPECT_EQ(unfiltered(cork), "set\n") << "the control";
}

// Leaving many groups keeps a lock of the whole machine, and the groups are charged to nobody.
TEST_F(UnchargedMemoryTest, SocketsJoinNoGroups) {
  const std::string join =
      "import errno, socket, struct\n"
      "def ask(family, level, option, value):\n"
      "    with socket.socket(family, socket.SOCK_DGRAM) as one:\n"
      "        try: one.setsockopt(level, option, value)\n"
      "        except OSError as error: return errno.errorcode[error.errno]\n"
      "    return 'joined'\n"
      "def storage(family, text):\n"
      "    if family == 2: return struct.pack('=H2x4s120x', 2, socket.inet_aton(text))\n"
      "    return struct.pack('=H6x16s104x', 10, socket.inet_pton(10, text))\n"
      "four, six, lo = '225.1.2.3', 'ff01::123', struct.pack('i', 1)\n"
      "group, own = socket.inet_aton(four), socket.inet_aton('127.0.0.1')\n"
      "pad = bytes(4)\n"
      "print(ask(2, 0, 35, group + bytes(4) + lo), ask(2, 0, 39, group + own + own),\n"
      "      ask(2, 0, 42, lo + pad + storage(2, four)),\n"
      "      ask(2, 0, 46, lo + pad + storage(2, four) + storage(2, '127.0.0.1')),\n"
      "      ask(10, 41, 20, socket.inet_pton(10, six) + lo),\n"
      "      ask(10, 41, 27, socket.inet_pton(10, '::1') + lo),\n"
      "      ask(10, 41, 42, lo + pad + storage(10, six)),\n"
      "      ask(10, 41, 46, lo + pad + storage(10, six) + storage(10, '::1')))\n";
  EXPECT_EQ(python(join).out, "ENODEV ENODEV ENODEV ENODEV ENODEV ENODEV ENODEV ENODEV\n");
  const std::string open = unfiltered(join);
  EXPECT_TRUE(open.starts_with("joined joined joined joined joined ")) << open;
}

// Who asks for the time at which a packet is sent gets a copy of the packet in the error queue.
constexpr const char* kAskForTimes =
    "import socket, struct\n"
    "one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); one.bind(('127.0.0.1', 0))\n"
    "def copies(option):\n"
    "    ask = (socket.SOL_SOCKET, option, struct.pack('I', 2))\n"
    "    one.sendmsg([bytes(1000)], [ask], 0, one.getsockname())\n"
    "    one.recv(1000)\n"
    "    try: return len(one.recvmsg(9000, 100, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)[0])\n"
    "    except BlockingIOError: return 0\n"
    "print(copies(37) > 0, copies(65) > 0)\n";

TEST_F(UnchargedMemoryTest, NoSocketGetsBackWhatItSent) {
  EXPECT_EQ(python(kAskForTimes).out, "False False\n");
  if (shell("test -e /proc/sys/net/core/tstamp_allow_data").exit_code != 0)
    GTEST_SKIP() << "no control: this kernel has one setting for the whole machine";
  EXPECT_EQ(unprotected("transmit_timestamps", kAskForTimes), "True True\n") << "the control";
}

TEST_F(UnchargedMemoryTest, OrdinaryProgramsSendInPieces) {
  EXPECT_EQ(python("import socket\n"
                   "here = socket.socket(); here.bind(('127.0.0.1', 0)); here.listen(1)\n"
                   "one = socket.create_connection(here.getsockname()); other = here.accept()[0]\n"
                   "one.send(b'in ', socket.MSG_MORE); one.sendmsg([b'pieces'])\n"
                   "print(other.recv(9, socket.MSG_WAITALL))\n")
                .out,
            "b'in pieces'\n");
}

}  // namespace
}  // namespace sandgate::test
