#include "local/agent/files/file_read.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "gateway/core/error.hpp"
#include "local/agent/files/file_tree.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kFramesPerSend = 8;
constexpr size_t kMaxListed = 100'000;  // entries
constexpr size_t kMaxListedText = 16 * 1024 * 1024;  // bytes of paths and symlink targets
constexpr int64_t kDeepestList = 64;
constexpr size_t kMaxUnsized = 1024 * 1024;  // bytes read of a file that reports size 0 (procfs)

Fd open_for_reading(const std::string& path, struct stat& info) {
  Fd file(open_safely(AT_FDCWD, path.c_str(), O_RDONLY | O_NONBLOCK));
  if (!file || ::fstat(file.get(), &info) != 0) throw path_error(path);
  if (S_ISDIR(info.st_mode)) throw Error::invalid("/path", "is a directory");
  if (!S_ISREG(info.st_mode)) throw Error::invalid("/path", "is no regular file");
  return file;
}

// Reads payloads directly into the send buffer, several frames per send.
void send_range(FileSession& session, const Fd& file, uint64_t offset, uint64_t length,
                const std::string& path) {
  constexpr size_t kSlot = kHeaderBytes + kMaxPayload;
  std::vector<char> frames(kSlot * kFramesPerSend);
  while (length > 0) {
    size_t filled = 0;
    for (size_t slot = 0; slot < kFramesPerSend && length > 0; ++slot) {
      const size_t wanted = std::min<uint64_t>(length, kMaxPayload);
      const size_t got =
          read_fully(file, frames.data() + filled + kHeaderBytes, wanted, offset, path);
      put_header(frames.data() + filled, FrameType::bytes, got);
      filled += kHeaderBytes + got;
      offset += got;
      length = got < wanted ? 0 : length - got;
    }
    session.send_raw({frames.data(), filled});
  }
}

Error too_many_listed() {
  return Error(
      ErrorCode::too_large,
      "there are too many files: list single directories or a smaller depth, or list with a "
      "program in the sandbox");
}

// Whether what is in an open directory can be looked at; false with errno.
bool may_search(const Fd& directory) {
  return ::faccessat(directory.get(), ".", X_OK, AT_EACCESS) == 0;
}

// A fifth of the memory that its JSON takes: a list may be longer than a small sandbox has room
// for.
struct Listed {
  std::string path, target;
  struct stat info {};

  nlohmann::json entry() const {
    nlohmann::json entry = entry_of(info, path);
    entry.erase("revision");  // not part of list entries
    if (S_ISLNK(info.st_mode)) entry["target"] = target;
    return entry;
  }
};

struct Listing {
  FileSession& session;
  std::vector<Listed> all = {};
  size_t text = 0;

  void add(Listed listed) {
    text += listed.path.size() + listed.target.size();
    if (all.size() == kMaxListed || text > kMaxListedText) throw too_many_listed();
    all.push_back(std::move(listed));
  }
};

void gather(const Fd& parent, const std::string& name, const std::string& path, int64_t depth,
            Listing& listing) {
  const Fd directory(
      open_safely(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK));
  // A subdirectory may be closed to the user or removed meanwhile: leave out what is in it.
  if (!directory || !may_search(directory)) return;
  const Names found = some_names_in(directory, kMaxListed, path);
  if (!found.all) throw too_many_listed();
  for (const std::string& child : found.names) {
    listing.session.check_client();
    Listed entry{join(path, child)};
    if (::fstatat(directory.get(), child.c_str(), &entry.info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISLNK(entry.info.st_mode)) entry.target = read_link(directory.get(), child);
    const bool enters = depth > 1 && S_ISDIR(entry.info.st_mode);
    const std::string inner = enters ? entry.path : "";
    listing.add(std::move(entry));
    if (enters) gather(directory, child, inner, depth - 1, listing);
  }
}

}  // namespace

size_t read_fully(const Fd& file, char* into, size_t wanted, uint64_t offset,
                  const std::string& path) {
  size_t have = 0;
  while (have < wanted) {
    const ssize_t got =
        ::pread(file.get(), into + have, wanted - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw path_error(path);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  return have;
}

void read_file(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const auto offset = request.reader.integer("offset", 0, INT64_MAX);
  const auto length = request.reader.integer("length", 0, INT64_MAX);
  request.finish();
  struct stat info;
  const Fd file = open_for_reading(path, info);
  std::string unsized;
  if (info.st_size == 0) {
    unsized.resize(kMaxUnsized);
    unsized.resize(read_fully(file, unsized.data(), unsized.size(), 0, path));
    info.st_size = static_cast<off_t>(unsized.size());
  }
  auto entry = entry_of(info, path);
  // Such a file is generated while it is read, so its ctime does not identify its content.
  if (!unsized.empty()) entry.erase("revision");
  session.reply(entry);
  const auto size = static_cast<uint64_t>(info.st_size);
  const uint64_t first = std::min(static_cast<uint64_t>(offset.value_or(0)), size);
  const uint64_t count = std::min(static_cast<uint64_t>(length.value_or(INT64_MAX)), size - first);
  if (unsized.empty())
    send_range(session, file, first, count, path);
  else
    session.bytes(std::string_view(unsized).substr(first, count));
  session.end();
}

void stat_file(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  request.finish();
  session.reply(describe(open_place(path), path));
}

void list_files(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const auto depth = request.reader.integer("depth", 1, kDeepestList);
  request.finish();
  const Fd root(open_safely(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK));
  if (!root || !may_search(root)) throw path_error(path);
  Listing listing{session};
  gather(root, ".", path, depth.value_or(1), listing);
  std::vector<Listed>& all = listing.all;
  std::sort(all.begin(), all.end(),
            [](const Listed& a, const Listed& b) { return a.path < b.path; });
  session.reply(nlohmann::json::object());
  for (const Listed& listed : all) session.item(listed.entry());
  session.end();
}

}  // namespace sandgate::agent
