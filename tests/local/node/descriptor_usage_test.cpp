#include "local/node/watch/descriptor_usage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "gateway/core/fd.hpp"
#include "local/fd_passing.hpp"
#include "local/node/machine/slab_growth.hpp"
#include "local/node/watch/epoll_items.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

// A child that does `work` and then waits for its end.
class Holder {
 public:
  template <typename Work>
  explicit Holder(const Work& work) {
    int ready[2];
    if (pipe(ready) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      close_range(3, ready[1] - 1, 0);
      work();
      (void)!write(ready[1], "r", 1);
      for (;;) pause();
    }
    close(ready[1]);
    char byte;
    if (read(ready[0], &byte, 1) != 1) throw std::runtime_error("the child has died");
    close(ready[0]);
  }
  ~Holder() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Holder(const Holder&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

DescriptorUsage look_at(const std::set<pid_t>& pids) {
  return descriptor_usage_of(pids, "/nowhere");
}

int open_directory() { return open("/", O_RDONLY | O_DIRECTORY); }

void lock_bytes(int file, int command, int count) {
  for (int i = 0; i < count; ++i) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_start = 2 * i;
    range.l_len = 1;
    if (fcntl(file, command, &range) != 0) _exit(1);
  }
}

struct SocketPair {
  SocketPair() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) throw std::runtime_error("no sockets");
    one.reset(pair[0]);
    other.reset(pair[1]);
  }
  Fd one, other;
};

// In a child: leaves no trace but the open file.
int unnamed_file() { return open("/tmp", O_TMPFILE | O_RDWR, 0600); }

TEST(DescriptorUsage, ReadsWhatTheKernelSaysOfADescriptor) {
  const auto read = [](std::string_view text) {
    const DescriptorInfo info = parse_descriptor_info(text);
    return std::pair(info.locks, info.in_flight);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(read(""), Pair(0, 0));
  EXPECT_EQ(read("pos:\t0\nflags:\t02\nmnt_id:\t27\nino:\t7\n"), Pair(0, 0));
  EXPECT_EQ(read("pos:\t0\nlock:\t1: POSIX  ADVISORY  WRITE 12 fe:00:9 0 0\n"
                 "lock:\t2: OFDLCK ADVISORY  READ -1 fe:00:9 2 EOF\nlock:\t3: FLO"),
            Pair(3, 0));
  EXPECT_EQ(read("pos:\t0\nscm_fds: 253\n"), Pair(0, 253));
  EXPECT_EQ(read("scm_fds:"), Pair(0, 0));
  EXPECT_EQ(read("scm_fds: x\nclock: 1\n lock: 1\n\n"), Pair(0, 0));
}

TEST(DescriptorUsage, ReadsWhatAnEpollInstanceWatches) {
  const auto read = [](std::string_view text) { return parse_descriptor_info(text).watched; };
  using Watched = decltype(DescriptorInfo::watched);
  EXPECT_EQ(read("pos:\t0\nino:\t12\n"), Watched());
  EXPECT_EQ(read("ino:\t12\n"
                 "tfd:       15 events: 80000019 data:      f  pos:0 ino:aa6578 sdev:f\n"
                 "tfd:       16 events: 80000019 data:     10  pos:0 ino:c sdev:f\n"
                 "tfd:       17 events:       19 data:     11  pos:9 ino:aa6578 sdev:f\n"),
            Watched({{"ino:aa6578 sdev:f", 2}, {"ino:c sdev:f", 1}}));
  EXPECT_EQ(read("tfd: 5 events: 1d data: ffff\ntfd: 6 events: 1d data: ffff\n"),
            Watched({{"", 2}}))
      << "as older kernels say it";
}

TEST(DescriptorUsage, CountsWhatItTakesToCloseAll) {
  const Holder holder([] {
    const int locked = unnamed_file(), other = unnamed_file();
    lock_bytes(other, F_OFD_SETLK, 5);
    for (int i = 0; i < 3; ++i) (void)!dup(other);
    flock(locked, LOCK_SH);
  });
  const DescriptorUsage usage = look_at({holder.pid()});
  EXPECT_EQ(usage.locks, 4 * 5 + 1) << "each descriptor tells its file's";
  EXPECT_EQ(usage.lock_steps, 4 * 20 + 1);
  EXPECT_EQ(usage.unnamed_locks, 0) << "a file that was made without a name is one of its own";
}

TEST(DescriptorUsage, LocksOfWhatHasNoNameAreFew) {
  const Holder holder([] { lock_bytes(eventfd(0, 0), F_SETLK, 65); });
  const DescriptorUsage usage = look_at({holder.pid()});
  EXPECT_EQ(usage.unnamed_locks, 65);
  EXPECT_TRUE(usage.is_excessive());
}

TEST(DescriptorUsage, ReadsTheTableOfUnixSockets) {
  const std::string title = "Num       RefCount Protocol Flags    Type St Inode Path\n";
  EXPECT_EQ(parse_unix_sockets(""), std::set<uint64_t>());
  EXPECT_EQ(parse_unix_sockets(title), std::set<uint64_t>());
  EXPECT_EQ(
      parse_unix_sockets(
          title + "0000000017f2502f: 00000003 00000000 00000000 0001 03  1661\n" +
          "00000000fdbfd4b5: 00000002 00000000 00010000 0001 01 71662 /run/a socket\n" +
          "0000000000000000: 00000002 00000000 00000000 0001 02     0 @waits\n" + "cut off\n"),
      (std::set<uint64_t>{1661, 71662}));
}

TEST(LockGrowth, IsMeasuredFromTheLeast) {
  const TempDirectory caches;
  const std::string cache = caches.path() + "/file_lock_cache";
  LockGrowth growth;
  EXPECT_FALSE(growth.is_suspicious(caches.path()));
  std::filesystem::create_directory(cache);
  const auto is_suspicious = [&](LockGrowth& of, const char* total) {
    std::ofstream(cache + "/total_objects") << total;
    return of.is_suspicious(caches.path());
  };
  LockGrowth later;
  EXPECT_FALSE(is_suspicious(later, "5000 N0=5000\n"));
  EXPECT_FALSE(is_suspicious(later, "4000 N0=4000\n"));
  EXPECT_FALSE(is_suspicious(later, "5024 N0=5024\n"));
  EXPECT_TRUE(is_suspicious(later, "5025 N0=5025\n"));
}

TEST(SlabGrowth, IsMeasuredFromTheLeast) {
  constexpr int64_t kMib = 1 << 20;
  const auto meminfo = [](int64_t total_mib, int64_t slab_mib) {
    return "MemTotal:       " + std::to_string(total_mib << 10) +
           " kB\nSReclaimable:  999999 kB\n" + "SUnreclaim:     " + std::to_string(slab_mib << 10) +
           " kB\n";
  };
  SlabGrowth small, large, unknown;
  EXPECT_FALSE(small.is_suspicious(meminfo(4096, 300), 0));
  EXPECT_FALSE(small.is_suspicious(meminfo(4096, 428), 0));
  EXPECT_TRUE(small.is_suspicious(meminfo(4096, 429), 0));
  EXPECT_FALSE(small.is_suspicious(meminfo(4096, 429), kMib));
  EXPECT_FALSE(small.is_suspicious(meminfo(4096, 100), 0));
  EXPECT_TRUE(small.is_suspicious(meminfo(4096, 300), 0));
  EXPECT_FALSE(large.is_suspicious(meminfo(65'536, 1000), 1000 * kMib));
  EXPECT_FALSE(large.is_suspicious(meminfo(65'536, 256), 0));
  EXPECT_TRUE(large.is_suspicious(meminfo(65'536, 257), 0));
  EXPECT_FALSE(unknown.is_suspicious("", 0));
}

TEST(DescriptorUsage, SaysWhatIsTooMuch) {
  EXPECT_FALSE((DescriptorUsage{.descriptors = 131'072}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.descriptors = 131'073}.is_excessive()));
  EXPECT_FALSE((DescriptorUsage{.directories = 1600}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.directories = 1700}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.directories = 900, .in_flight = 800}.is_excessive()));
  EXPECT_FALSE((DescriptorUsage{.locks = 160'000}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.locks = 170'000}.is_excessive()));
  EXPECT_FALSE((DescriptorUsage{.udp_sockets = 16'384}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.udp_sockets = 16'385}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.directories = 900, .udp_sockets = 9000}.is_excessive()));
  EXPECT_FALSE((DescriptorUsage{.epoll_items = 131'072, .items_of_one = 32'768}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.epoll_items = 131'073}.is_excessive()));
  EXPECT_TRUE((DescriptorUsage{.items_of_one = 32'769}.is_excessive()));
  EXPECT_FALSE((DescriptorUsage{.in_flight = 64}.may_hide_more()));
  EXPECT_TRUE((DescriptorUsage{.in_flight = 65}.may_hide_more()));
  EXPECT_TRUE((DescriptorUsage{.hidden_sockets = true}.may_hide_more()));
  EXPECT_FALSE((DescriptorUsage{.in_flight = 1}.may_hide_items(131'072)));
  EXPECT_TRUE((DescriptorUsage{.in_flight = 1}.may_hide_items(131'073)));
  EXPECT_FALSE((DescriptorUsage{.in_flight = 1, .epoll_items = 1}.may_hide_items(131'073)));
  EXPECT_TRUE((DescriptorUsage{.hidden_sockets = true}.may_hide_items(131'073)));
  EXPECT_FALSE(DescriptorUsage().may_hide_items(131'073));
  EXPECT_FALSE((DescriptorUsage{.in_flight = 1}.may_hide_items(kUnknownItems)));
}

// Copies of a descriptor, in the same process and in one that has inherited it, hold nothing.
TEST(DescriptorUsage, CountsAnOpenDirectoryOnce) {
  const Holder none([] {});
  const Holder some([] {
    for (int i = 0; i < 10; ++i) dup(open_directory());
    if (fork() == 0)
      for (;;) pause();
  });
  std::ifstream children("/proc/" + std::to_string(some.pid()) + "/task/" +
                         std::to_string(some.pid()) + "/children");
  pid_t child = 0;
  ASSERT_TRUE(children >> child);
  EXPECT_EQ(look_at({none.pid()}).directories, 0);
  EXPECT_EQ(look_at({some.pid()}).directories, 10);
  EXPECT_EQ(look_at({some.pid(), child}).directories, 10);
  EXPECT_EQ(look_at({some.pid(), none.pid(), child, 1 << 22}).directories, 10);
  kill(child, SIGKILL);
}

// A thread may have descriptors of its own, and those it shares are looked at once.
TEST(DescriptorUsage, LooksAtEveryTableOfAProcess) {
  const Holder threads([] {
    static std::atomic<bool> is_ready = false;
    std::thread([] {
      unshare(CLONE_FILES);
      for (int i = 0; i < 7; ++i) open_directory();
      std::thread([] { pause(); }).detach();
      is_ready = true;
      is_ready.notify_all();
      pause();
    }).detach();
    open_directory();
    is_ready.wait(false);
  });
  EXPECT_EQ(look_at({threads.pid()}).directories, 8);
  EXPECT_LT(look_at({threads.pid()}).descriptors, 40);
}

TEST(DescriptorUsage, CountsLocksWhoeverTookThem) {
  const Holder holder([] {
    lock_bytes(unnamed_file(), F_SETLK, 3000);
    lock_bytes(unnamed_file(), F_OFD_SETLK, 200);
    flock(unnamed_file(), LOCK_EX);
    // Taken by a process that shares the table of descriptors, and is gone.
    const int file = unnamed_file();
    static std::vector<char> stack(1 << 16);
    const auto take = [](void* argument) {
      lock_bytes(*static_cast<int*>(argument), F_SETLK, 10);
      return 0;
    };
    int copy = file;
    waitpid(clone(take, stack.data() + stack.size(), CLONE_FILES | SIGCHLD, &copy), nullptr, 0);
  });
  EXPECT_EQ(look_at({holder.pid()}).locks, 3211);
}

// An epoll instance that is inherited or copied counts once, and so does its long description.
TEST(DescriptorUsage, CountsEpollItemsByWhatTheyWatch) {
  const Holder holder([] {
    const auto watch = [](int epoll, int file) {
      epoll_event event{};
      if (epoll_ctl(epoll, EPOLL_CTL_ADD, file, &event) != 0) _exit(1);
    };
    static const SocketPair one, other;
    const int first = epoll_create1(0), second = epoll_create1(0);
    for (int i = 0; i < 50; ++i) {
      const int copy = dup(one.one.get());
      watch(first, copy);
      watch(second, copy);
    }
    watch(first, other.one.get());
    watch(first, eventfd(0, 0));
    watch(first, eventfd(0, 0));
    for (int i = 0; i < 5; ++i) dup(first);
    if (fork() == 0)
      for (;;) pause();
  });
  std::ifstream children("/proc/" + std::to_string(holder.pid()) + "/task/" +
                         std::to_string(holder.pid()) + "/children");
  pid_t child = 0;
  ASSERT_TRUE(children >> child);
  const DescriptorUsage usage = look_at({holder.pid(), child});
  EXPECT_EQ(usage.epoll_items, 103);
  EXPECT_EQ(usage.items_of_one, 100);
  kill(child, SIGKILL);
}

TEST(DescriptorUsage, CountsBoundUdpSocketsOfBothVersions) {
  const TempDirectory directory;
  std::ofstream(directory.path() + "/sockstat")
      << "sockets: used 20123\nTCP: inuse 5 orphan 0 tw 0 alloc 9 mem 4\n"
         "UDP: inuse 20000 mem 7\nUDPLITE: inuse 3\n";
  EXPECT_EQ(descriptor_usage_of({}, directory.path()).udp_sockets, 20'000);
  EXPECT_TRUE(descriptor_usage_of({}, directory.path()).is_excessive());
  std::ofstream(directory.path() + "/sockstat6") << "TCP6: inuse 1\nUDP6: inuse 17\n";
  EXPECT_EQ(descriptor_usage_of({}, directory.path()).udp_sockets, 20'017);
  EXPECT_EQ(look_at({getpid()}).udp_sockets, 0);

  std::vector<Fd> bound;
  for (int i = 0; i < 5; ++i) {
    bound.emplace_back(socket(AF_INET, SOCK_DGRAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ASSERT_EQ(bind(bound.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_GE(descriptor_usage_of({}, "/proc/self/net").udp_sockets, 5);
}

uint64_t inode_of(const Fd& socket) {
  struct stat status {};
  fstat(socket.get(), &status);
  return status.st_ino;
}

TEST(DescriptorUsage, SeesWhatIsInFlight) {
  const Holder sender([] {
    static const SocketPair pair;
    for (int i = 0; i < 5; ++i) send_with_fd(pair.one.get(), "x", Fd(open_directory()).get());
  });
  const DescriptorUsage usage = look_at({sender.pid()});
  EXPECT_EQ(usage.in_flight, 5);
  EXPECT_EQ(usage.directories, 0);
  EXPECT_FALSE(usage.hidden_sockets);
}

// A socket that is in flight itself may have received anything.
TEST(DescriptorUsage, SeesThatASocketIsHidden) {
  const TempDirectory directory;
  for (const bool keeps_it : {true, false}) {
    const Holder sender([&] {
      static SocketPair carrier, hidden;
      std::ofstream lines(directory.path() + "/unix");
      lines << "title\n";
      for (const Fd* socket : {&carrier.one, &carrier.other, &hidden.one, &hidden.other})
        lines << "0: 00000003 00000000 00000000 0001 03 " << inode_of(*socket) << "\n";
      lines.close();
      send_with_fd(hidden.one.get(), "x", Fd(open_directory()).get());
      send_with_fd(carrier.one.get(), "x", hidden.other.get());
      if (!keeps_it) hidden.other.reset();
    });
    const DescriptorUsage usage = descriptor_usage_of({sender.pid()}, directory.path());
    EXPECT_EQ(usage.in_flight, keeps_it ? 2 : 1);
    EXPECT_EQ(usage.hidden_sockets, !keeps_it);
  }
}

}  // namespace
}  // namespace sandgate::test
