#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

using SharedImageTest = SandboxTest;

// Tells of each way to have the kernel forget a file of the image whether most of it is in memory
// afterwards. Only to the file's owner does the kernel say what is; the first way is open to all
// who may read it.
constexpr const char* kForget =
    "import ctypes, os\n"
    "libc = ctypes.CDLL(None)\n"
    "libc.mmap.restype, kPageOut = ctypes.c_void_p, 21\n"
    "file = os.open('/usr/bin/git', os.O_RDONLY)\n"
    "size = os.fstat(file).st_size\n"
    "pages = (size + 4095) // 4096\n"
    "place = ctypes.c_void_p(libc.mmap(None, ctypes.c_size_t(size), 1, 1, file, "
    "ctypes.c_long(0)))\n"
    "def is_kept(forget):\n"
    "    os.pread(file, size, 0)\n"
    "    forget()\n"
    "    seen = ctypes.create_string_buffer(pages)\n"
    "    assert libc.mincore(place, ctypes.c_size_t(size), seen) == 0\n"
    "    return sum(page & 1 for page in seen.raw) * 2 > pages\n"
    "def as_account(work):\n"
    "    pid = os.fork()\n"
    "    if pid == 0: os.setgid(1000); os.setuid(1000); work(); os._exit(0)\n"
    "    assert os.waitpid(pid, 0)[1] == 0\n"
    "def advise(): os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)\n"
    "def page_out():\n"
    "    ctypes.string_at(place, size)\n"
    "    assert libc.madvise(place, ctypes.c_size_t(size), kPageOut) == 0\n"
    "def both_halves():\n"
    "    assert libc.syscall(221, file, 0, 0, ctypes.c_long(4 | 1 << 40)) == 0\n"
    "print(is_kept(lambda: None), is_kept(lambda: as_account(advise)), is_kept(both_halves),\n"
    "      is_kept(page_out))\n";

TEST_F(SharedImageTest, NobodyHasItsFilesForgotten) {
  EXPECT_EQ(python(kForget, "root").out, "True True True True\n");
  WeakNode weak;
  const ExecResult control = weak.node().python(weak.without("seccomp"), kForget, "root");
  EXPECT_EQ(control.out, "True False False False\n") << control.err;
}

// Says what each way to lock a file of the image in memory answers, and how much is locked then.
constexpr const char* kLock =
    "import ctypes, errno, os, re\n"
    "libc = ctypes.CDLL(None, use_errno=True)\n"
    "libc.mmap.restype, kLocked = ctypes.c_void_p, 0x2000\n"
    "file, size = os.open('/usr/bin/git', os.O_RDONLY), ctypes.c_size_t(1 << 20)\n"
    "def map(flags): return libc.mmap(None, size, 1, 1 | flags, file, ctypes.c_long(0))\n"
    "def locked(): return re.search('VmLck:\\\\s*(.*)', open('/proc/self/status').read())[1]\n"
    "place = ctypes.c_void_p(map(0))\n"
    "print(libc.mlock(place, size), locked(), libc.munlock(place, size), locked())\n"
    "print(libc.mlock2(place, size, 1), locked(), libc.munlockall(), locked())\n"
    "map(kLocked); print(errno.errorcode.get(ctypes.get_errno()), locked())\n"
    "print(libc.munlockall(), libc.mlockall(4 | 2)); map(0); print(locked() == '0 kB')\n";

TEST_F(SharedImageTest, NobodyLocksItsFilesInMemory) {
  EXPECT_EQ(python(kLock).out, "0 0 kB 0 0 kB\n0 0 kB 0 0 kB\nEAGAIN 0 kB\n0 0\nTrue\n");
  WeakNode weak;
  const ExecResult control = weak.node().python(weak.without("seccomp"), kLock);
  EXPECT_EQ(control.out, "0 1024 kB 0 0 kB\n0 1024 kB 0 0 kB\nNone 1024 kB\n0 0\nFalse\n")
      << control.err;
}

// Where the file is the sandbox's own, too: nothing fails that does without the advice.
TEST_F(SharedImageTest, AdviceIsNoError) {
  EXPECT_EQ(output("dd if=/dev/zero of=own bs=64k count=4 oflag=nocache status=none && "
                   "dd if=own of=/dev/null iflag=nocache status=none && wc -c < own"),
            "262144");
}

}  // namespace
}  // namespace sandgate::test
