#include "local/agent/files/file_write.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

constexpr int64_t kModeBits = 0777;
constexpr int64_t kDefaultMode = 0644;

constexpr std::string_view kPrefix = ".sandgate-";
constexpr size_t kDigits = 16;
constexpr std::string_view kReplacing = "-replacing";

// Empty where the file could not be given a name later: not every file system has O_TMPFILE, and
// linkat() by descriptor alone takes a capability that the worker does not have.
Fd open_nameless(int directory) {
  Fd file(open_safely(directory, ".", O_WRONLY | O_TMPFILE, 0600));
  if (file && ::access(fd_path(file).c_str(), F_OK) != 0) file.reset();
  return file;
}

// File times set by the kernel have a granularity of milliseconds, in which a file may change
// twice. Clients tell versions apart by size and time.
timespec precise_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

void refuse_special(const Place& place) {
  struct stat info;
  if (::fstatat(place.directory.get(), place.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (S_ISDIR(info.st_mode)) throw Error::invalid("/path", "is a directory");
  if (!S_ISREG(info.st_mode)) throw Error::invalid("/path", "is no regular file");
}

// Throws conflict when the path leads elsewhere than to `place` by now: a program moved or replaced
// a directory of it during the upload, and the file would appear where nobody asked for it.
void check_still_leads_to(const Place& place, const std::string& path) {
  const Place now = open_target(path);
  struct stat before, after;
  const bool known =
      ::fstat(place.directory.get(), &before) == 0 && ::fstat(now.directory.get(), &after) == 0;
  if (known && before.st_dev == after.st_dev && before.st_ino == after.st_ino &&
      now.name == place.name)
    return;
  throw Error(
      ErrorCode::conflict,
      "'" + path + "' leads to another directory than when its upload began: upload it again");
}

}  // namespace

std::string pending_name(bool replaces) {
  unsigned long long random = 0;
  (void)!::getrandom(&random, sizeof random, 0);
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", random);
  std::string name = std::string(kPrefix) + digits;
  if (replaces) name += kReplacing;
  return name;
}

bool is_pending(std::string_view name) {
  if (is_replacing(name)) name.remove_suffix(kReplacing.size());
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

bool is_replacing(std::string_view name) { return name.ends_with(kReplacing); }

PendingFile::PendingFile(const Place& place, std::string path)
    : place_(place), path_(std::move(path)), file_(open_nameless(place.directory.get())) {
  if (file_) return;
  temporary_ = pending_name(/*replaces=*/false);
  file_ = Fd(open_safely(place_.directory.get(), temporary_.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (!file_) throw path_error(path_);
}

PendingFile::~PendingFile() {
  if (!temporary_.empty()) ::unlinkat(place_.directory.get(), temporary_.c_str(), 0);
}

void PendingFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw path_error(path_);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

// write() succeeds once the page cache has the bytes; a full host disk shows only at fsync, as EIO.
void PendingFile::sync(int descriptor) const {
  if (::fsync(descriptor) == 0 || errno == EINVAL) return;  // EINVAL: fsync is not supported
  if (errno == EIO) errno = ENOSPC;
  throw path_error(path_);
}

// A name of its own first, because linkat() does not replace a file. A watch sees nothing but
// names, so this one says what the rename does.
void PendingFile::give_name() {
  const int directory = place_.directory.get();
  struct stat info;
  const bool replaces = ::fstatat(directory, place_.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!temporary_.empty() && !replaces) return;
  std::string name = pending_name(replaces);
  const int outcome =
      temporary_.empty()
          ? ::linkat(AT_FDCWD, fd_path(file_).c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW)
          : ::renameat(directory, temporary_.c_str(), directory, name.c_str());
  if (outcome != 0) throw path_error(path_);
  temporary_ = std::move(name);
}

void PendingFile::commit(uint32_t mode, timespec modified, bool durable) {
  const int directory = place_.directory.get();
  if (::fchmod(file_.get(), mode) != 0) throw path_error(path_);
  const timespec times[2] = {{0, UTIME_OMIT}, modified};
  ::futimens(file_.get(), times);  // on failure the file keeps the current time
  if (durable) sync(file_.get());
  give_name();
  // The kernel runs no program that is open for writing.
  file_.reset();
  if (::renameat(directory, temporary_.c_str(), directory, place_.name.c_str()) != 0)
    throw path_error(path_);
  temporary_.clear();
  if (!durable) return;
  const Fd names(open_safely(directory, ".", O_RDONLY | O_DIRECTORY));
  if (names) sync(names.get());
}

void write_file(FileSession& session, FileRequest& request) {
  const std::string path = request.path("path");
  const auto mode = request.reader.integer("mode", 0, kModeBits);
  request.finish();
  const Place place = make_target(path);
  refuse_special(place);
  PendingFile file(place, path);
  session.reply(nlohmann::json::object());
  for (std::string_view bytes; !(bytes = session.receive_bytes()).empty();) file.write(bytes);
  check_still_leads_to(place, path);
  file.commit(static_cast<uint32_t>(mode.value_or(kDefaultMode)), precise_time(),
              session.space_is_scarce());
  session.reply(describe(place, path));
}

}  // namespace sandgate::agent
