#include "local/agent/files/file_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <vector>

#include "gateway/core/file_time.hpp"

namespace sandgate::agent {
namespace {

constexpr int kMaxLinks = 40;
constexpr mode_t kParentMode = 0755;
constexpr mode_t kPermissions = 07777;

std::string normalised(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
    start = end + 1;
  }
  std::string whole;
  for (const std::string& part : parts) whole += "/" + part;
  return whole.empty() ? "/" : whole;
}

constexpr int kWay = O_PATH | O_DIRECTORY;

// Opens one component at a time and makes the missing ones.
Fd open_or_make_path(const std::string& path) {
  Fd at(open_safely(AT_FDCWD, path.front() == '/' ? "/" : ".", kWay));
  for (size_t start = 0; at && start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    start = end + 1;
    if (part.empty()) continue;
    const int refused = ::mkdirat(at.get(), part.c_str(), kParentMode) == 0 ? 0 : errno;
    at = Fd(open_safely(at.get(), part.c_str(), kWay));
    // When mkdir failed and the directory is missing, report mkdir's error.
    if (!at && errno == ENOENT && refused != EEXIST) errno = refused;
  }
  return at;
}

enum class MissingParents { refuse, make };

// Without a directory, and with errno, when that failed.
Place place_at(int base, const std::string& path, MissingParents missing) {
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Place place;
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (place.name.empty()) place.name = ".";
  place.directory = Fd(open_safely(base, parent.c_str(), O_PATH | O_DIRECTORY));
  if (!place.directory && missing == MissingParents::make && errno == ENOENT &&
      parent.front() == '/')
    place.directory = open_or_make_path(parent);
  return place;
}

Place place_of(const std::string& path, MissingParents missing) {
  Place place = place_at(AT_FDCWD, path, missing);
  if (!place.directory) throw path_error(path);
  return place;
}

Place target_of(const std::string& path, MissingParents missing) {
  Place place = place_of(path, missing);
  for (int links = 0; links < kMaxLinks; ++links) {
    const std::string target = read_link(place.directory.get(), place.name);
    if (target.empty()) return place;
    Place next = place_at(place.directory.get(), target, missing);
    if (!next.directory) throw path_error(path);
    // A target that ends in ".." names a directory, which a file cannot replace.
    if (next.name == "..") errno = EISDIR;
    if (next.name == "..") throw path_error(path);
    place = std::move(next);
  }
  errno = ELOOP;
  throw path_error(path);
}

}  // namespace

std::string FileRequest::path(std::string_view member) {
  reader.require(member);
  const auto text = reader.text(member, {.min = 1, .max = kMaxPath});
  if (!text) return "/";
  return normalised(text->front() == '/' ? *text : home + "/" + *text);
}

void FileRequest::finish() {
  reader.finish();
  problems.throw_if_any();
}

Error path_error(const std::string& path) {
  switch (errno) {
    case ENOENT:
      return Error::not_found("file", path);
    case EACCES:
    case EPERM:
    case EROFS:
      return Error(ErrorCode::forbidden,
                   "the sandbox's account may not access '" + path + "' like this");
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return Error(ErrorCode::quota_exceeded, "the sandbox's disk is full");
    case EEXIST:
      return Error(ErrorCode::conflict, "'" + path + "' exists already");
    case ENOTEMPTY:
      return Error(ErrorCode::conflict, "'" + path + "' is a directory that is not empty");
    case EBUSY:
    case ETXTBSY:
      return Error(ErrorCode::conflict, "'" + path + "' is in use");
    case EFBIG:
      return Error(ErrorCode::too_large, "'" + path + "' would be too large");
    case EISDIR:
      return Error::invalid("/path", "is a directory");
    case ENOTDIR:
      return Error::invalid("/path", "is no directory, or leads through something that is none");
    case ENAMETOOLONG:
      return Error::invalid("/path", "has a part of more than 255 bytes");
    case ELOOP:
      return Error::invalid("/path", "leads through too many symbolic links");
    case EMFILE:
    case ENFILE:
      return Error(ErrorCode::unavailable, "the sandbox has no free descriptors");
    default:
      return Error::invalid("/path", "cannot be used like this");
  }
}

Fd make_directories(const std::string& path) {
  Fd directory = open_or_make_path(path);
  struct stat info;
  if (!directory && errno == ENOTDIR) errno = ::lstat(path.c_str(), &info) == 0 ? EEXIST : ENOTDIR;
  if (!directory) throw path_error(path);
  return directory;
}

Place open_place(const std::string& path) { return place_of(path, MissingParents::refuse); }
Place make_place(const std::string& path) { return place_of(path, MissingParents::make); }
Place open_target(const std::string& path) { return target_of(path, MissingParents::refuse); }
Place make_target(const std::string& path) { return target_of(path, MissingParents::make); }

const char* type_name(mode_t mode) {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "directory";
  return S_ISLNK(mode) ? "symlink" : "other";
}

nlohmann::json entry_of(const struct stat& info, const std::string& path) {
  const Time second = file_time(info.st_mtim.tv_sec);
  const int64_t modified = to_micros(second) + info.st_mtim.tv_nsec / 1000;
  char revision[64];
  std::snprintf(revision, sizeof revision, "%llx.%llx.%lx",
                static_cast<unsigned long long>(info.st_ino),
                static_cast<unsigned long long>(info.st_ctim.tv_sec), info.st_ctim.tv_nsec);
  return {{"name", path.size() > 1 ? path.substr(path.rfind('/') + 1) : path},
          {"path", path},
          {"type", type_name(info.st_mode)},
          {"size", S_ISDIR(info.st_mode) ? 0 : info.st_size},
          {"mode", info.st_mode & kPermissions},
          {"modified_at", modified},
          {"revision", revision}};
}

std::string read_link(int directory, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t length = ::readlinkat(directory, name.c_str(), target, PATH_MAX);
  return length < 0 ? "" : std::string(target, static_cast<size_t>(length));
}

nlohmann::json describe(const Place& place, const std::string& path) {
  struct stat info;
  if (::fstatat(place.directory.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    throw path_error(path);
  nlohmann::json entry = entry_of(info, path);
  if (S_ISLNK(info.st_mode)) entry["target"] = read_link(place.directory.get(), place.name);
  return entry;
}

std::string join(const std::string& directory, std::string_view name) {
  return directory == "/" ? "/" + std::string(name) : directory + "/" + std::string(name);
}

}  // namespace sandgate::agent
