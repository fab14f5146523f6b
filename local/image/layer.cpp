#include "local/image/layer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"
#include "local/image/directories.hpp"
#include "local/image/tar_input.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxPath = 4096, kMaxName = 255;
constexpr int64_t kMaxId = 65535;  // the last id of a sandbox's range
constexpr std::string_view kWhiteout = ".wh.", kOpaque = ".wh..wh..opq";

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  std::string shown;
  for (const char c : name.substr(0, 200)) shown += c < ' ' || c == 127 ? '?' : c;
  throw Error(ErrorCode::invalid, "the layer's entry '" + shown + "' " + why);
}

[[noreturn]] void refuse_errno(const std::string& name) {
  refuse(name, std::string("cannot be made: ") + std::strerror(errno));
}

// Normalises a member's name to an absolute path; "/" for the root itself.
fs::path inner_path(const char* raw) {
  const std::string text = raw == nullptr ? "" : raw;
  if (text.empty() || text.size() > kMaxPath) refuse(text, "has an impossible name");
  fs::path path = "/";
  int depth = 0;
  for (const fs::path& part : fs::path(text).relative_path()) {
    if (part == "..") refuse(text, "leads upwards");
    if (part.native().size() > kMaxName || ++depth > kMaxDepth)
      refuse(text, "has an impossible name");
    if (!part.empty() && part != ".") path /= part;
  }
  return path;
}

class Layer {
 public:
  Layer(archive* in, Unpacker unpacker, UnpackBudget& budget)
      : in_(in), unpacker_(unpacker), budget_(budget) {}

  void apply(archive_entry* entry) {
    const fs::path path = inner_path(archive_entry_pathname(entry));
    budget_.names -= static_cast<int64_t>(path.native().size());
    count(path);
    // Holes count, because computing the digest reads them, and so does what is read over here.
    take_bytes(archive_entry_size(entry), path);
    if (path == "/") return;
    const std::string name = path.filename();
    make_parents(path.parent_path());
    if (name.starts_with(kWhiteout)) return white_out(path.parent_path(), name);
    brought_.insert(path.native());
    if (!make(entry, path)) return;
    set_owner_and_mode(entry, path);
  }

 private:
  void count(const fs::path& path) {
    if (--budget_.entries < 0 || budget_.names < 0) refuse(path, "is one too many");
  }
  void take_bytes(int64_t length, const fs::path& path) {
    if (length < 0 || length > budget_.bytes) refuse(path, "is too large");
    budget_.bytes -= length;
  }

  // Symlinks cannot lead out, because the tree is the root directory. What an earlier layer has as
  // a file gives way to what this one has below it, as in an overlay.
  void make_parents(const fs::path& directory) {
    std::error_code failed;
    if (fs::is_directory(directory, failed)) return;
    fs::path here;
    for (const fs::path& part : directory) {
      here /= part;
      const auto kind = fs::symlink_status(here, failed);
      if (!fs::exists(kind)) break;
      if (fs::is_directory(kind) || fs::is_symlink(kind)) continue;
      if (brought_.contains(here)) refuse(directory, "is a directory and something else");
      fs::remove(here);
    }
    // They may be many: each entry can be below 256 of its own.
    budget_.entries -= make_directories(directory);
    if (budget_.entries < 0) refuse(directory, "is one too many");
  }

  // A whiteout removes files of earlier layers only, whatever the order of the members.
  void white_out(const fs::path& directory, const std::string& name) {
    if (name == kOpaque) {
      for (const auto& entry : fs::directory_iterator(directory)) remove_old(entry.path());
    } else if (const std::string hidden = name.substr(kWhiteout.size());
               !hidden.empty() && hidden != "." && hidden != ".." && !hidden.starts_with(".wh.")) {
      remove_old(directory / hidden);
    }
  }
  // Removes all of it that this layer did not bring.
  void remove_old(const fs::path& path) {
    const std::string below = path.native() + "/";
    const auto next = brought_.lower_bound(below);
    const bool ours =
        brought_.contains(path) || (next != brought_.end() && next->starts_with(below));
    if (!ours) {
      fs::remove_all(path);
      return;
    }
    count(path);  // whiteouts may look at it again and again
    if (!fs::is_directory(fs::symlink_status(path))) return;
    for (const auto& entry : fs::directory_iterator(path)) remove_old(entry.path());
  }

  // Returns false when no owner and mode are to be set: for hard links and skipped devices.
  bool make(archive_entry* entry, const fs::path& path) {
    if (const char* target = archive_entry_hardlink(entry)) {
      link_to(inner_path(target), path);
      return false;
    }
    const auto kind = archive_entry_filetype(entry);
    const bool is_directory = fs::is_directory(fs::symlink_status(path));
    if (kind == AE_IFDIR) {
      if (is_directory) return true;
      if (is_too_deep(path)) refuse(path, "is too deep");
      fs::remove_all(path);
      if (mkdir(path.c_str(), 0755) != 0) refuse_errno(path);
      return true;
    }
    if (kind == AE_IFCHR || kind == AE_IFBLK) {
      if (path.native().starts_with("/dev/")) return false;
      refuse(path, "is a device");
    }
    fs::remove_all(path);
    if (kind == AE_IFREG) {
      write_file(path, archive_entry_size(entry));
    } else if (kind == AE_IFLNK) {
      const char* target = archive_entry_symlink(entry);
      if (target == nullptr || symlink(target, path.c_str()) != 0) refuse_errno(path);
    } else if (kind != AE_IFIFO || mkfifo(path.c_str(), 0600) != 0) {
      refuse(path, "is of a kind that images do not have");
    }
    return true;
  }

  // Each name of a file counts its bytes, because computing the digest reads them for each.
  void link_to(const fs::path& target, const fs::path& path) {
    const auto kind = fs::symlink_status(target);
    if (!fs::is_regular_file(kind) && !fs::is_symlink(kind))
      refuse(path, "is a link to what is no file");
    if (fs::is_regular_file(kind)) take_bytes(static_cast<int64_t>(fs::file_size(target)), path);
    if (target == path) return;
    fs::remove_all(path);
    if (linkat(AT_FDCWD, target.c_str(), AT_FDCWD, path.c_str(), 0) != 0) refuse_errno(path);
  }

  void write_file(const fs::path& path, int64_t length) {
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) refuse_errno(path);
    const void* bytes = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      const int result = archive_read_data_block(in_, &bytes, &size, &offset);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK) refuse(path, "is damaged");
      if (offset < 0 || offset + static_cast<int64_t>(size) > length) refuse(path, "is damaged");
      for (size_t done = 0; done < size;) {
        const ssize_t some = pwrite(file.get(), static_cast<const char*>(bytes) + done, size - done,
                                    offset + static_cast<off_t>(done));
        if (some <= 0) refuse_errno(path);
        done += static_cast<size_t>(some);
      }
    }
    if (ftruncate(file.get(), length) != 0) refuse_errno(path);
  }

  mode_t least_mode(unsigned kind) const {
    if (unpacker_ == Unpacker::root) return 0;
    return kind == AE_IFDIR ? S_IRWXU : S_IRUSR;
  }

  // The owner first, because changing it clears set-id bits. The image keeps those bits, but all
  // its mounts ignore them (nosuid).
  void set_owner_and_mode(archive_entry* entry, const fs::path& path) {
    const int64_t uid = archive_entry_uid(entry), gid = archive_entry_gid(entry);
    if (uid < 0 || uid > kMaxId || gid < 0 || gid > kMaxId)
      refuse(path, "has an owner that no sandbox has");
    // EINVAL: without privileges only one id is mapped, which owns all files.
    if (lchown(path.c_str(), static_cast<uid_t>(uid), static_cast<gid_t>(gid)) != 0 &&
        errno != EINVAL)
      refuse_errno(path);
    const auto kind = archive_entry_filetype(entry);
    if (kind != AE_IFLNK &&
        chmod(path.c_str(), (archive_entry_mode(entry) & 07777) | least_mode(kind)) != 0)
      refuse_errno(path);
    timespec times[2] = {{0, UTIME_OMIT}, {archive_entry_mtime(entry), 0}};
    utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }

  archive* const in_;
  const Unpacker unpacker_;
  UnpackBudget& budget_;
  std::set<std::string> brought_;  // a fs::path would take kilobytes
};

}  // namespace

void apply_layer(int archive_file, Unpacker unpacker, UnpackBudget& budget) {
  setlocale(LC_CTYPE, "C.UTF-8");  // lets libarchive read UTF-8 names; affects this child only
  const TarInput in(archive_file, budget.stream, "a layer is not an archive");
  Layer layer(in.get(), unpacker, budget);
  for (;;) {
    archive_entry* entry = nullptr;
    const int result = archive_read_next_header(in.get(), &entry);
    if (result == ARCHIVE_EOF) return;
    if (in.too_large())
      throw Error(ErrorCode::invalid, "the layers are too large once they are decompressed");
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN)
      throw Error(ErrorCode::invalid, "a layer is damaged");
    layer.apply(entry);
  }
}

}  // namespace sandgate
