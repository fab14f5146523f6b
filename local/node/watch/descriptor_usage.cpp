#include "local/node/watch/descriptor_usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include "gateway/core/fd.hpp"
#include "gateway/core/files.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/node/watch/epoll_items.hpp"

namespace sandgate {
namespace {

// Of a block of 4 KiB full of short names, each in an allocation of 64 bytes.
constexpr int64_t kDirectoryBytes = 20 << 10;
constexpr int64_t kLockBytes = 200;
constexpr int64_t kUdpSocketBytes = 2 << 10;
// That of 200 000 locks, or more items than kMaxEpollItems.
constexpr size_t kMaxInfo = 16 << 20;

struct OpenFile {
  pid_t task;
  int number;
};

// Whether a task's descriptor is the other's, and an order of those that are not.
struct ByOpenFile {
  bool operator()(const OpenFile& one, const OpenFile& other) const {
    const long order = syscall(SYS_kcmp, one.task, other.task, KCMP_FILE, one.number, other.number);
    if (order >= 0 && order <= 2) return order == 1;
    return std::tie(one.task, one.number) < std::tie(other.task, other.number);
  }
};

// Without the system call nobody can tell, and all threads of a process are taken to share one.
bool share_descriptors(pid_t one, pid_t other) {
  const long order = syscall(SYS_kcmp, one, other, KCMP_FILES, 0, 0);
  return order == 0 || (order < 0 && errno == ENOSYS);
}

// What the kernel shows a descriptor to be, up to one byte more than the longest word looked for.
std::string shown_as(int files, const char* name) {
  char link[sizeof "anon_inode:[eventpoll]"];
  const ssize_t length = readlinkat(files, name, link, sizeof link);
  return {link, static_cast<size_t>(std::max<ssize_t>(length, 0))};
}

bool is_epoll(int files, const char* name) {
  return shown_as(files, name) == "anon_inode:[eventpoll]";
}

bool is_unnamed(int files, const char* name) {
  return shown_as(files, name).starts_with("anon_inode:");
}

using OpenList = std::unique_ptr<DIR, int (*)(DIR*)>;

// Calls `use` with each number in a directory of numbers.
template <typename Use>
void for_each_number(const std::string& directory, const Use& use) {
  const OpenList list(opendir(directory.c_str()), closedir);
  if (!list) return;
  while (const dirent* entry = readdir(list.get()))
    if (*entry->d_name != '.' && !use(std::atoi(entry->d_name), entry->d_name)) return;
}

// "tfd: 15 events: 80000019 data: f  pos:0 ino:aa6578 sdev:f". Kernels that do not name the inode
// leave all items to count as one file's.
void count_item(std::string_view line, std::map<std::string, int64_t, std::less<>>& watched) {
  const size_t inode = line.find("ino:");
  const std::string_view file = inode == std::string_view::npos ? "" : line.substr(inode);
  const auto known = watched.find(file);
  if (known != watched.end())
    ++known->second;
  else
    watched.emplace(file, 1);
}

// Of both IP versions. The kernel's own count is read at once, while the table of all sockets is
// walked through anew for each page of it.
int64_t udp_sockets_of(const std::string& network) {
  return stat_value(read_text_file(network + "/sockstat").value_or(""), "UDP: inuse") +
         stat_value(read_text_file(network + "/sockstat6").value_or(""), "UDP6: inuse");
}

class DescriptorCount {
 public:
  explicit DescriptorCount(const std::string& network) : network_(network) {
    usage_.udp_sockets = udp_sockets_of(network);
  }

  void add(pid_t process) {
    std::optional<pid_t> looked_at;
    for_each_number("/proc/" + std::to_string(process) + "/task", [&](pid_t task, const char*) {
      if (!looked_at || !share_descriptors(*looked_at, task)) add_table(task);
      looked_at = task;
      return !is_enough();
    });
  }

  DescriptorUsage result() {
    usage_.directories = static_cast<int64_t>(directories_.size());
    if (usage_.in_flight == 0) return usage_;  // then no socket is
    for (const uint64_t inode : parse_unix_sockets(read_text_file(network_ + "/unix").value_or("")))
      usage_.hidden_sockets = usage_.hidden_sockets || !sockets_.contains(inode);
    return usage_;
  }

  bool is_enough() const { return usage_.is_excessive(); }

 private:
  void add_table(pid_t task) {
    const std::string place = "/proc/" + std::to_string(task);
    const Fd infos(open((place + "/fdinfo").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Fd files(open((place + "/fd").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for_each_number(place + "/fd", [&](int number, const char* name) {
      ++usage_.descriptors;
      inode_ = 0;
      DescriptorInfo info;
      if (is_news(files.get(), {task, number}, name)) info = info_of(infos.get(), name);
      note(info);
      if (info.locks > 0 && is_unnamed(files.get(), name)) usage_.unnamed_locks += info.locks;
      return !is_enough();
    });
  }

  // Notes what the descriptor is. False when what the kernel says of it is known by another: of an
  // epoll instance that may be megabytes. A file on another machine is not asked for: it might not
  // answer.
  bool is_news(int files, const OpenFile& one, const char* name) {
    struct statx kind {};
    if (statx(files, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, &kind))
      return true;
    inode_ = kind.stx_ino;
    if (S_ISSOCK(kind.stx_mode)) {
      sockets_.insert(kind.stx_ino);
    } else if (S_ISDIR(kind.stx_mode)) {
      directories_.insert(one);
      usage_.directories = static_cast<int64_t>(directories_.size());
    } else if (is_epoll(files, name)) {
      return epolls_.insert(one).second;
    }
    return true;
  }

  void note(const DescriptorInfo& info) {
    usage_.locks += info.locks;
    note_file(info.locks);
    usage_.in_flight += info.in_flight;
    for (const auto& [file, items] : info.watched) {
      usage_.epoll_items += items;
      usage_.items_of_one = std::max(usage_.items_of_one, watched_[file] += items);
    }
  }

  // Files of several file systems may have one number, as may all that have no name; those without
  // a name are one file to the kernel, too.
  void note_file(int64_t locks) {
    FileUse& file = files_[inode_];
    usage_.lock_steps -= file.descriptors * file.locks;
    ++file.descriptors;
    file.locks += locks;
    usage_.lock_steps += file.descriptors * file.locks;
  }

  DescriptorInfo info_of(int infos, const char* name) {
    const Fd file(openat(infos, name, O_RDONLY | O_CLOEXEC));
    size_t length = 0;
    while (file && length < kMaxInfo) {
      if (text_.size() - length < 4096) text_.resize(text_.size() * 2 + 4096);
      const ssize_t count = read(file.get(), text_.data() + length, text_.size() - length);
      if (count <= 0) break;
      length += static_cast<size_t>(count);
    }
    return parse_descriptor_info(std::string_view(text_).substr(0, length));
  }

  const std::string network_;
  DescriptorUsage usage_;
  std::set<OpenFile, ByOpenFile> directories_, epolls_;
  std::map<std::string, int64_t> watched_;  // items of all epoll instances, as in DescriptorInfo
  std::set<uint64_t> sockets_;
  struct FileUse {
    int64_t descriptors = 0, locks = 0;
  };
  std::unordered_map<uint64_t, FileUse> files_;  // by inode
  uint64_t inode_ = 0;  // of the descriptor that is looked at
  std::string text_;
};

}  // namespace

int64_t DescriptorUsage::bytes() const {
  return (directories + in_flight) * kDirectoryBytes + locks * kLockBytes +
         udp_sockets * kUdpSocketBytes;
}

// Where nothing is known there is no suspicion either: many programs send descriptors.
bool DescriptorUsage::may_hide_items(int64_t most_items) const {
  return (hidden_sockets || in_flight > 0) && most_items != kUnknownItems &&
         most_items - epoll_items > kMaxEpollItems;
}

DescriptorUsage descriptor_usage_of(const std::set<pid_t>& processes, const std::string& network) {
  DescriptorCount count(network);
  for (const pid_t process : processes) {
    if (count.is_enough()) break;
    count.add(process);
  }
  return count.result();
}

DescriptorInfo parse_descriptor_info(std::string_view text) {
  constexpr std::string_view kLock = "lock:", kInFlight = "scm_fds:", kItem = "tfd:";
  DescriptorInfo info;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(kLock)) ++info.locks;
    if (line.starts_with(kItem)) count_item(line, info.watched);
    if (!line.starts_with(kInFlight)) continue;
    const size_t digits = line.find_first_not_of(' ', kInFlight.size());
    if (digits != std::string_view::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), info.in_flight);
  }
  return info;
}

// After the title: "Num: RefCount Protocol Flags Type St Inode Path", the path being optional.
std::set<uint64_t> parse_unix_sockets(const std::string& table) {
  std::set<uint64_t> inodes;
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream columns(line);
    std::string column;
    for (int number = 0; number < 6; ++number) columns >> column;
    uint64_t inode = 0;
    if (columns >> inode && inode != 0) inodes.insert(inode);
  }
  return inodes;
}

}  // namespace sandgate
