#include "local/agent/files/archive.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "local/agent/files/extraction.hpp"
#include "local/agent/files/file_read.hpp"
#include "local/agent/files/tar_reader.hpp"
#include "local/agent/files/tar_writer.hpp"
#include "local/agent/files/tree_walk.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kSendBytes = 4 * kMaxPayload;
constexpr size_t kNameInError = 200;

// No program could unpack a longer name: it would exceed PATH_MAX.
void check_name(const std::string& name) {
  if (name.size() < kMaxPath) return;
  throw Error(ErrorCode::too_large, "the directories are too deep: what is below '" +
                                        name.substr(0, kNameInError) +
                                        "...' has a path of more than 4095 bytes");
}

// Whether opening an entry failed because it was removed or replaced after it was found.
bool was_replaced() { return errno == ENOENT || errno == ENOTDIR || errno == ELOOP; }

// Checks that Packing can read an entry, because no error can be sent once bytes are streamed.
// Returns the entry opened if it is a directory.
Fd check_readable(const Fd& directory, const std::string& name, const std::string& path) {
  struct stat info;
  if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return Fd();
  const bool is_directory = S_ISDIR(info.st_mode);
  if (!is_directory && !S_ISREG(info.st_mode)) return Fd();
  const int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (is_directory ? O_DIRECTORY : 0);
  Fd entry(open_safely(directory.get(), name.c_str(), how));
  // Entries that are gone or changed meanwhile are handled while packing.
  if (!entry && (errno == EACCES || errno == EPERM)) throw path_error(path);
  return is_directory ? std::move(entry) : Fd();
}

void check_all_readable(FileSession& session, const Fd& directory, const std::string& path) {
  TreeWalk walk(directory, path);
  while (walk.next()) {
    session.check_client();
    check_name(walk.relative());
    Fd entry = check_readable(walk.directory(), walk.name(), walk.path());
    if (entry) walk.enter(std::move(entry));
  }
}

// Writes a directory tree or file to the session as a tar stream.
class Packing {
 public:
  explicit Packing(FileSession& session) : session_(session) {}

  // Adds one entry, without the content of a directory; nothing if it is gone. Returns the entry
  // opened if it is a directory.
  Fd add(const Fd& directory, const std::string& name, const std::string& path) {
    struct stat info;
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return Fd();
    TarEntry entry{.name = path,
                   .mode = static_cast<uint32_t>(info.st_mode & 0777),
                   .mtime = info.st_mtim.tv_sec};
    if (S_ISREG(info.st_mode)) add_file(directory, name, entry);
    if (S_ISLNK(info.st_mode)) add_link(directory, name, entry);
    if (!S_ISDIR(info.st_mode)) return Fd();
    Fd child(open_safely(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!child && was_replaced()) return Fd();
    if (!child) throw path_error(path);
    entry.type = TarType::directory;
    entry.name += "/";
    send(tar_header(entry));
    return child;
  }

  void add_all(const Fd& directory, const std::string& path) {
    TreeWalk walk(directory, path);
    while (walk.next()) {
      check_name(walk.relative());
      Fd entry = add(walk.directory(), walk.name(), walk.relative());
      if (entry) walk.enter(std::move(entry));
    }
  }

  void finish() {
    send(tar_end());
    session_.bytes(pending_);
    session_.end();
  }

 private:
  void add_link(const Fd& directory, const std::string& name, TarEntry entry) {
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(directory.get(), name.c_str(), target, sizeof target);
    if (length <= 0) return;
    entry.type = TarType::symlink;
    entry.target.assign(target, static_cast<size_t>(length));
    send(tar_header(entry));
  }

  // Content has the size that its header says. Whoever unpacks zeros in place of what is missing
  // takes them for the file's, so a file that became shorter breaks the archive off.
  void add_file(const Fd& directory, const std::string& name, TarEntry entry) {
    const Fd file(open_safely(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat info;
    if (!file && was_replaced()) return;
    if (!file || ::fstat(file.get(), &info) != 0) throw path_error(entry.name);
    if (!S_ISREG(info.st_mode)) return;
    entry.size = static_cast<uint64_t>(info.st_size);
    send(tar_header(entry));
    std::string part;
    for (uint64_t at = 0; at < entry.size; at += part.size()) {
      part.resize(std::min<uint64_t>(entry.size - at, kMaxPayload));
      if (read_fully(file, part.data(), part.size(), at, entry.name) < part.size())
        throw Error(ErrorCode::unavailable,
                    "'" + entry.name + "' became shorter while it was read");
      send(part);
    }
    send(std::string(tar_padding(entry.size), '\0'));
  }

  void send(std::string_view bytes) {
    pending_ += bytes;
    if (pending_.size() < kSendBytes) return;
    session_.bytes(pending_);
    pending_.clear();
  }

  FileSession& session_;
  std::string pending_;
};

}  // namespace

void read_archive(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  request.finish();
  const Fd directory(open_safely(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  if (!directory && errno != ENOTDIR) throw path_error(path);
  Packing packing(session);
  if (directory) {
    check_all_readable(session, directory, path);
    session.reply(nlohmann::json::object());
    packing.add_all(directory, path);
  } else {
    const Place place = open_place(path);
    describe(place, path);
    check_readable(place.directory, place.name, path);
    session.reply(nlohmann::json::object());
    packing.add(place.directory, place.name, place.name);
  }
  packing.finish();
}

void write_archive(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  request.finish();
  Extraction extraction(path);
  session.reply(nlohmann::json::object());
  TarReader reader;
  for (std::string_view bytes; !(bytes = session.receive_bytes()).empty();) {
    reader.push(bytes);
    while (const auto event = reader.next()) {
      if (const auto* entry = std::get_if<TarEntry>(&*event)) extraction.begin(*entry);
      if (const auto* content = std::get_if<TarContent>(&*event))
        extraction.content(content->bytes);
      if (std::holds_alternative<TarEntryEnd>(*event)) extraction.end(session.space_is_scarce());
    }
  }
  reader.finish();
  session.reply(nlohmann::json::object());
}

}  // namespace sandgate::agent
