#include "local/agent/files/file_watch.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "gateway/core/error.hpp"
#include "local/agent/files/file_write.hpp"
#include "local/agent/files/watch_tree.hpp"
#include "local/agent/pace.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxUploads = 64;  // between the halves of their renames
constexpr size_t kQueueBytes = 64 * (sizeof(inotify_event) + NAME_MAX + 1);
// Other tenants share the threads that pass changes on, but not those that find them.
constexpr std::chrono::milliseconds kTurn{50};
constexpr int kReadsPerTurn = 16;
// Less than is sent at once: when a client learns of a write, the later ones of that turn are over.
constexpr size_t kTurnBytes = 24 * 1024;
constexpr size_t kBytesPerSecond = 256 * 1024;  // about 4000 changes
constexpr std::chrono::seconds kBurst{2};

// A file that was opened with O_TMPFILE has no name, but the kernel reports writes to it in its
// directory, as '#' and the inode.
bool is_nameless(std::string_view name, const std::string& path) {
  struct stat info;
  return name.size() > 1 && name.front() == '#' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos &&
         ::lstat(path.c_str(), &info) != 0;
}

bool has_bytes(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

// What is at the path. The kernel tells only whether it is a directory.
const char* type_at(const std::string& path, bool directory) {
  if (directory) return "directory";
  struct stat info;
  const bool there = ::lstat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
  return there ? type_name(info.st_mode) : "file";
}

// Turns inotify's events into changes for the client.
class Watcher {
 public:
  Watcher(FileSession& session, WatchTree& tree) : session_(session), tree_(tree) {}

  // Handles all events of one read. Returns false when the root is gone.
  bool take(const char* bytes, size_t size) {
    for (size_t at = 0; at < size && !ended_;) {
      inotify_event event;
      std::memcpy(&event, bytes + at, sizeof event);
      take(event, event.len > 0 ? bytes + at + sizeof event : "");
      at += sizeof event + event.len;
    }
    return !ended_;
  }

  size_t told_bytes() const { return told_bytes_; }  // in this turn
  void tell_lost() { tell("overflow", "", /*directory=*/false); }
  bool is_amid_move() const { return moved_.has_value(); }  // its arrival may be in the queue

  // Sends what was told. Returns the bytes of it.
  size_t end_turn() {
    settle_move();
    session_.flush_items();
    written_.clear();
    return std::exchange(told_bytes_, 0);
  }

 private:
  struct Moved {
    uint32_t cookie;
    std::string path;
    bool directory;
  };

  void tell(const char* kind, const std::string& path, bool directory,
            const std::string& from = "") {
    // A program that writes in small pieces would fill the stream with identical changes.
    if (*kind == 'w') {
      if (!written_.insert(path).second) return;
    } else if (directory || !from.empty()) {
      written_.clear();  // other files may be at these paths now
    } else {
      written_.erase(path);
    }
    nlohmann::json document{{"kind", kind}, {"path", path}, {"type", type_at(path, directory)}};
    if (!from.empty()) document["from"] = from;
    told_bytes_ += session_.item(document);
  }

  // `made`: the directory is new, so that what is in it was written there.
  void enter(const std::string& path, bool made) {
    if (!tree_.recursive()) return;
    const bool all = tree_.add(path, [&](const std::string& child, bool inner) {
      tell("create", child, inner);
      if (made && has_bytes(child)) tell("write", child, false);
    });
    if (!all) tell_lost();
  }

  // Reports a move as a removal when no matching arrival was seen: it left the watched tree.
  void settle_move() {
    if (!moved_) return;
    if (moved_->directory) tree_.drop_below(moved_->path);
    tell("remove", moved_->path, moved_->directory);
    moved_.reset();
  }

  // Among what was lost may be directories that appeared or moved, and the end of the root.
  void take_overflow() {
    settle_move();
    tell_lost();
    if (!tree_.renew()) end();
  }

  void end() {
    tell("remove", tree_.root(), /*directory=*/true);
    ended_ = true;
  }

  // Remembers an upload until the other half of its rename, which has the same cookie.
  void take_pending(const inotify_event& event, const char* name) {
    settle_move();
    if ((event.mask & IN_MOVED_FROM) == 0) return;
    if (uploads_.size() >= kMaxUploads) uploads_.erase(uploads_.begin());
    uploads_[event.cookie] = is_replacing(name);
  }

  void arrive(const inotify_event& event, const std::string& path, bool directory) {
    const auto upload = uploads_.extract(event.cookie);
    if (upload && !directory) {
      if (!upload.mapped()) tell("create", path, false);
      return tell("write", path, /*directory=*/false);
    }
    if (moved_ && moved_->cookie == event.cookie) {
      if (directory) tree_.move(moved_->path, path);
      tell("rename", path, directory, moved_->path);
      moved_.reset();
      // It was moved before it was watched, when it was new.
      if (directory && !tree_.watches(path)) enter(path, true);
      return;
    }
    tell("create", path, directory);
    if (directory) enter(path, false);
  }

  void take_own(const inotify_event& event, const std::string& path) {
    if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0 && path == tree_.root()) end();
  }

  void take(const inotify_event& event, const char* name) {
    if (event.mask & IN_Q_OVERFLOW) return take_overflow();
    const std::string* directory = tree_.path_of(event.wd);
    if (!directory) return;
    if (event.mask & IN_IGNORED) return tree_.forget(event.wd);
    if (event.len == 0) return take_own(event, *directory);
    const std::string path = join(*directory, name);
    if (is_pending(name)) return take_pending(event, name);
    if ((event.mask & IN_MODIFY) && is_nameless(name, path)) return settle_move();
    const bool is_directory = (event.mask & IN_ISDIR) != 0;
    if ((event.mask & IN_MOVED_TO) == 0) settle_move();
    if (event.mask & IN_MOVED_TO) {
      if (moved_ && moved_->cookie != event.cookie) settle_move();
      arrive(event, path, is_directory);
    } else if (event.mask & IN_MOVED_FROM) {
      moved_ = Moved{event.cookie, path, is_directory};
    } else if (event.mask & IN_CREATE) {
      tell("create", path, is_directory);
      if (is_directory) enter(path, true);
    } else if (event.mask & IN_DELETE) {
      tell("remove", path, is_directory);
    } else if (event.mask & IN_MODIFY) {
      tell("write", path, is_directory);
    }
  }

  FileSession& session_;
  WatchTree& tree_;
  std::optional<Moved> moved_;
  std::map<uint32_t, bool> uploads_;  // by cookie: whether it replaces a file
  std::set<std::string> written_;  // told in this turn, with no other change since
  size_t told_bytes_ = 0;
  bool ended_ = false;
};

// Handles what has happened until now, or enough of it for one turn. Returns false when the root is
// gone.
bool take_turn(Watcher& watcher, int queue) {
  std::array<char, kQueueBytes> bytes;
  pollfd more{queue, POLLIN, 0};
  bool is_there = true;
  const auto has_room = [&](int reads) {
    return reads < kReadsPerTurn && watcher.told_bytes() < kTurnBytes;
  };
  // A turn that ended between the halves of a move would tell it as a removal.
  for (int reads = 0;
       is_there && (has_room(reads) || (watcher.is_amid_move() && reads < 2 * kReadsPerTurn));
       ++reads) {
    if (reads > 0 && ::poll(&more, 1, 0) != 1) break;
    const ssize_t got = ::read(queue, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error(ErrorCode::unavailable, "the watch broke");
    is_there = watcher.take(bytes.data(), static_cast<size_t>(got));
  }
  return is_there;
}

// Returns false when the client is gone: it sends nothing after its request, so any event means
// that it closed the connection.
bool wait_for_change(int queue, int client) {
  std::array<pollfd, 2> asked{pollfd{queue, POLLIN, 0}, pollfd{client, POLLIN | POLLRDHUP, 0}};
  while (::poll(asked.data(), asked.size(), -1) < 0 && errno == EINTR) continue;
  return asked[1].revents == 0;
}

// Returns false when the client is gone meanwhile.
bool rest(int client, std::chrono::milliseconds duration) {
  pollfd gone{client, POLLIN | POLLRDHUP, 0};
  return ::poll(&gone, 1, static_cast<int>(duration.count())) != 1;
}

}  // namespace

void watch_files(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const bool recursive = request.reader.boolean("recursive").value_or(false);
  request.finish();
  WatchTree tree(path, recursive);
  session.reply(nlohmann::json::object());
  Watcher watcher(session, tree);
  if (tree.is_partial()) watcher.tell_lost();
  watcher.end_turn();
  Pace pace(kBytesPerSecond, kBurst);
  while (wait_for_change(tree.queue(), session.socket())) {
    const bool is_there = take_turn(watcher, tree.queue());
    const size_t told = watcher.end_turn();
    if (!is_there) return session.end();
    const auto pause = pace.after(told, std::chrono::steady_clock::now());
    if (!rest(session.socket(), std::max(pause, kTurn))) return;
  }
}

}  // namespace sandgate::agent
