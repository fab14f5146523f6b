#include "local/agent/files/extraction.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_tree.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxName = 255;
constexpr mode_t kOwner = 0700;  // always set on directories, so that members can be written

[[noreturn]] void reject(const std::string& name, const char* why) {
  throw Error::invalid("", "the archive's member '" + name.substr(0, 200) + "' " + why);
}

// Splits a member's name into components; empty for the directory itself.
std::vector<std::string> parts_of(const std::string& name) {
  if (name.size() > kMaxPath || name.find('\0') != std::string::npos)
    reject(name, "has an impossible name");
  if (name.starts_with('/')) reject(name, "has an absolute name");
  std::vector<std::string> parts;
  for (size_t start = 0; start < name.size();) {
    const size_t end = std::min(name.find('/', start), name.size());
    const std::string part = name.substr(start, end - start);
    start = end + 1;
    if (part == "..") reject(name, "leads out of the directory");
    if (part.size() > kMaxName) reject(name, "has an impossible name");
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return parts;
}

bool exists(const Place& place, struct stat& info) {
  return ::fstatat(place.directory.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

// Opens a subdirectory by one name, never through a symlink.
Fd step(const Fd& from, const std::string& name) {
  return Fd(::openat(from.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Why a name is no step to a member. The kernel refuses symlinks and files alike.
const char* obstacle(const Fd& from, const std::string& name) {
  struct stat info;
  const bool symlink =
      ::fstatat(from.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
  return symlink ? "passes through a symlink" : "is below something that is no directory";
}

// By descriptor, as the name may be another's by now. One that may not be read cannot be opened,
// and is reached as far as there is /proc.
void set_mode(const Fd& directory, mode_t mode) {
  const Fd readable = open_directory(directory.get(), ".");
  if (readable)
    (void)!::fchmod(readable.get(), mode);
  else
    (void)!::chmod(fd_path(directory).c_str(), mode);
}

}  // namespace

Extraction::Extraction(const std::string& directory) : root_(make_directories(directory)) {}

Place Extraction::place_of(const std::string& name, bool create) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return {Fd(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 3)), "."};
  Fd at(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 3));
  for (size_t i = 0; at && i + 1 < parts.size(); ++i) {
    Fd next = step(at, parts[i]);
    if (!next && create && errno == ENOENT) {
      if (::mkdirat(at.get(), parts[i].c_str(), 0755) != 0 && errno != EEXIST)
        throw path_error(name);
      next = step(at, parts[i]);
    }
    if (!next && (errno == ELOOP || errno == ENOTDIR)) reject(name, obstacle(at, parts[i]));
    at = std::move(next);
  }
  if (!at) throw path_error(name);
  return {std::move(at), parts.back()};
}

void Extraction::begin(const TarEntry& entry) {
  entry_ = entry;
  if (entry.type == TarType::special) reject(entry.name, "is a device or a pipe");
  place_ = std::make_unique<Place>(place_of(entry.name, /*create=*/true));
  if (entry.type == TarType::directory) return make_directory(*place_);
  struct stat info;
  if (place_->name == "." || (exists(*place_, info) && S_ISDIR(info.st_mode)))
    reject(entry.name, "would replace a directory");
  if (entry.type == TarType::file)
    file_ = std::make_unique<PendingFile>(*place_, entry.name);
  else
    make_link(*place_);
}

void Extraction::make_directory(const Place& place) {
  if (place.name == ".") return;
  if (::mkdirat(place.directory.get(), place.name.c_str(), kOwner) != 0 && errno != EEXIST)
    throw path_error(entry_.name);
  const Fd made = step(place.directory, place.name);
  if (!made) reject(entry_.name, "is a directory where there is something else");
  // Fails on an existing directory of another owner, which then keeps its mode.
  set_mode(made, (entry_.mode & 0777) | kOwner);
}

void Extraction::make_link(const Place& place) {
  const int directory = place.directory.get();
  if (entry_.target.empty() || entry_.target.size() >= kMaxPath ||
      entry_.target.find('\0') != std::string::npos)
    reject(entry_.name, "has an impossible target");
  if (entry_.type == TarType::symlink) {
    if (::unlinkat(directory, place.name.c_str(), 0) != 0 && errno != ENOENT)
      throw path_error(entry_.name);
    if (::symlinkat(entry_.target.c_str(), directory, place.name.c_str()) != 0)
      throw path_error(entry_.name);
    return;
  }
  const Place target = place_of(entry_.target, /*create=*/false);
  struct stat info;
  if (!exists(target, info) || !S_ISREG(info.st_mode))
    reject(entry_.name, "links to something that is no file of the directory");
  struct stat there;
  if (exists(place, there) && there.st_ino == info.st_ino && there.st_dev == info.st_dev) return;
  if (::unlinkat(directory, place.name.c_str(), 0) != 0 && errno != ENOENT)
    throw path_error(entry_.name);
  if (::linkat(target.directory.get(), target.name.c_str(), directory, place.name.c_str(), 0) != 0)
    throw path_error(entry_.name);
}

void Extraction::content(std::string_view bytes) {
  if (file_) file_->write(bytes);
}

void Extraction::end(bool durable) {
  if (!file_) return;
  file_->commit(entry_.mode & 0777, {entry_.mtime, 0}, durable);
  file_.reset();
}

}  // namespace sandgate::agent
