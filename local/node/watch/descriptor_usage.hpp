#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace sandgate {

// What processes hold through descriptors without any control group being charged: the names of
// open directories that were read (ext4 keeps those of one block with each), locks on ranges of
// files, whatever is on its way through sockets, and what UDP sockets with SO_REUSEPORT share an
// address and port by (a table of 128 places for each address and port, in 2 KiB of kmalloc-2k).
// And what costs time. Whoever wakes up a file that epoll instances watch goes through all its
// items with interrupts off, 0.13 µs each. Whoever closes a descriptor goes through all locks of
// its file, 0.02 to 0.2 µs each: also when a program is killed, which waits for that, and everybody
// on the machine if the file is one without a name.
struct DescriptorUsage {
  // 1600 directories, 160 000 locks or 16 384 UDP sockets.
  static constexpr int64_t kMaxBytes = 32 << 20;
  static constexpr int64_t kMaxDescriptors = 131'072;
  static constexpr int64_t kMaxInFlight = 64;
  static constexpr int64_t kMaxEpollItems = 131'072;
  static constexpr int64_t kMaxItemsOfOne = 32'768;
  static constexpr int64_t kMaxLockSteps = 1 << 25;  // 5792 descriptors of a file with a lock each
  static constexpr int64_t kMaxUnnamedLocks = 64;

  int64_t descriptors = 0;  // looked at, at most one more than kMaxDescriptors
  int64_t directories = 0;  // open ones; one that several descriptors refer to counts once
  int64_t locks = 0;
  int64_t lock_steps = 0;  // to close all: the descriptors of each file, times its locks
  int64_t unnamed_locks = 0;  // of files without a name (eventfd, epoll), which all are one file
  int64_t in_flight = 0;  // descriptors sent to sockets that are open, and not received yet
  int64_t udp_sockets = 0;  // bound ones, with SO_REUSEPORT or not, also those in flight
  int64_t epoll_items = 0;  // of all epoll instances; several descriptors of one count once
  int64_t items_of_one = 0;  // that watch the same file: the most of any
  // A Unix socket exists that no process has open: it is in flight, and what it holds is unknown.
  bool hidden_sockets = false;

  int64_t bytes() const;  // an upper estimate
  // More than a sandbox may hold, or more than can be looked at in about a second.
  bool is_excessive() const {
    return descriptors > kMaxDescriptors || bytes() > kMaxBytes || epoll_items > kMaxEpollItems ||
           items_of_one > kMaxItemsOfOne || lock_steps > kMaxLockSteps ||
           unnamed_locks > kMaxUnnamedLocks;
  }
  // Much may be hidden in flight. Ordinary programs look so at times, but not each time.
  bool may_hide_more() const { return hidden_sockets || in_flight > kMaxInFlight; }
  // Likewise too many epoll items, if there can be `most_items` (epoll_items.hpp).
  bool may_hide_items(int64_t most_items) const;
};

// Looks at all descriptors of these processes and their threads, until it is too much. What changes
// meanwhile may be missed or counted twice, so they should be frozen. `network` is the directory
// that describes their network namespace (/proc/PID/net). Needs root, or to be their owner.
DescriptorUsage descriptor_usage_of(const std::set<pid_t>& processes, const std::string& network);

// Of the texts in /proc/PID/fdinfo.
struct DescriptorInfo {
  int64_t locks = 0;
  int64_t in_flight = 0;  // received by this socket, which nobody has taken out
  // The items of this epoll instance, by what the kernel says of the watched file's inode, which
  // files without a name of their own (eventfd, timerfd) share.
  std::map<std::string, int64_t, std::less<>> watched;
};
DescriptorInfo parse_descriptor_info(std::string_view text);

// The inodes of a table of Unix sockets. Sockets without one wait to be accepted.
std::set<uint64_t> parse_unix_sockets(const std::string& table);

}  // namespace sandgate
