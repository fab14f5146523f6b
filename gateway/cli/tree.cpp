#include "gateway/cli/tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <archive.h>
#include <archive_entry.h>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/files.hpp"

namespace sandgate::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 64 * 1024;
constexpr mode_t kPermissionBits = 0777;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

[[noreturn]] void fail(ErrorCode code, const std::string& path, archive* from) {
  const char* reason = archive_error_string(from);
  throw Error(code, path + ": " + (reason ? reason : "the archive is broken"));
}

// Where an archive goes. What broke off gets nothing more: closing the writer, without which it is
// never freed completely, would fill the entry with zeros and end the archive.
struct Sink {
  int fd;
  bool broke_off = false;
};

la_ssize_t write_to_sink(archive* writer, void* data, const void* bytes, size_t size) {
  const Sink& sink = *static_cast<const Sink*>(data);
  size_t sent = 0;
  while (!sink.broke_off && sent < size) {
    const ssize_t now = ::write(sink.fd, static_cast<const char*>(bytes) + sent, size - sent);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) {
      archive_set_error(writer, errno, "%s", std::strerror(errno));
      return -1;
    }
    sent += static_cast<size_t>(now);
  }
  return sink.broke_off ? -1 : static_cast<la_ssize_t>(size);
}

// Throws also if the file shrinks meanwhile: libarchive would fill the rest with zeros.
void pack_bytes(const fs::path& path, la_int64_t size, archive* writer) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw Error(ErrorCode::internal, cannot_read(path.string()));
  std::array<char, kBlockBytes> block;
  for (la_int64_t left = size; left > 0;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0) throw Error(ErrorCode::internal, cannot_read(path.string()));
    if (got == 0)
      throw Error(ErrorCode::internal, path.string() + " became shorter while it was read");
    if (archive_write_data(writer, block.data(), static_cast<size_t>(got)) < 0)
      fail(ErrorCode::internal, path.string(), writer);
    left -= got;
  }
}

// Returns whether the entry is of a kind that is copied.
bool pack_entry(const fs::path& path, const fs::path& name, archive* disk, archive* writer) {
  const Entry entry(archive_entry_new(), &archive_entry_free);
  archive_entry_copy_sourcepath(entry.get(), path.c_str());
  archive_entry_copy_pathname(entry.get(), path.c_str());
  if (archive_read_disk_entry_from_file(disk, entry.get(), -1, nullptr) != ARCHIVE_OK)
    fail(ErrorCode::internal, path.string(), disk);
  const auto type = archive_entry_filetype(entry.get());
  if (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK) return false;
  archive_entry_copy_pathname(entry.get(), name.c_str());
  // The format has no times before 1970.
  if (archive_entry_mtime(entry.get()) < 0) archive_entry_set_mtime(entry.get(), 0, 0);
  archive_entry_set_uid(entry.get(), 0);
  archive_entry_set_gid(entry.get(), 0);
  archive_entry_set_uname(entry.get(), nullptr);
  archive_entry_set_gname(entry.get(), nullptr);
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK)
    fail(ErrorCode::internal, path.string(), writer);
  if (type == AE_IFREG) pack_bytes(path, archive_entry_size(entry.get()), writer);
  return true;
}

// The path for an entry of an untrusted archive. Throws for a name that leads outside.
std::string safe_place(const char* name, const fs::path& directory) {
  const fs::path path = fs::path(name ? name : "").lexically_normal();
  const bool outside = path.is_absolute() || path.empty() || *path.begin() == "..";
  if (outside)
    throw Error(ErrorCode::invalid,
                "the sandbox's archive has an entry that leads outside the directory");
  return (directory / path).string();
}

void unpack_data(archive* reader, archive* disk) {
  const void* block = nullptr;
  size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int got = archive_read_data_block(reader, &block, &size, &offset);
    if (got == ARCHIVE_EOF) return;
    if (got < ARCHIVE_OK) fail(ErrorCode::invalid, "the sandbox's archive", reader);
    if (archive_write_data_block(disk, block, size, offset) < ARCHIVE_OK)
      fail(ErrorCode::internal, "writing", disk);
  }
}

void unpack_entry(archive_entry* entry, archive* reader, archive* disk, const fs::path& directory) {
  const auto type = archive_entry_filetype(entry);
  const char* link = archive_entry_hardlink(entry);
  if (!link && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK) return;
  archive_entry_copy_pathname(entry, safe_place(archive_entry_pathname(entry), directory).c_str());
  if (link) archive_entry_copy_hardlink(entry, safe_place(link, directory).c_str());
  archive_entry_set_perm(entry, archive_entry_perm(entry) & kPermissionBits);
  if (archive_write_header(disk, entry) < ARCHIVE_OK)
    fail(ErrorCode::invalid, "the sandbox's archive", disk);
  if (!link && type == AE_IFREG) unpack_data(reader, disk);
  if (archive_write_finish_entry(disk) < ARCHIVE_OK) fail(ErrorCode::internal, "writing", disk);
}

// Archives are padded to whole blocks after the end mark. A writer that sends the padding late
// would fail if the reading end were closed.
void drain(int fd) {
  std::array<char, kBlockBytes> rest;
  for (;;) {
    const ssize_t got = ::read(fd, rest.data(), rest.size());
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
}

}  // namespace

uint64_t bytes_below(const fs::path& directory) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory))
    if (entry.is_regular_file() && !entry.is_symlink()) bytes += entry.file_size();
  return bytes;
}

std::vector<fs::path> pack(const fs::path& directory, int fd) {
  Sink sink{fd};
  const Writer writer(archive_write_new(), &archive_write_free);
  // Here a name is its bytes, while pax wants characters, which a locale would have to explain.
  archive_write_set_format_gnutar(writer.get());
  archive_write_set_bytes_per_block(writer.get(), kBlockBytes);
  if (archive_write_open(writer.get(), &sink, nullptr, &write_to_sink, nullptr) != ARCHIVE_OK)
    fail(ErrorCode::internal, directory.string(), writer.get());
  const Reader disk(archive_read_disk_new(), &archive_read_free);
  archive_read_disk_set_symlink_physical(disk.get());
  std::vector<fs::path> left_out;
  try {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      const fs::path name = entry.path().lexically_relative(directory);
      if (!pack_entry(entry.path(), name, disk.get(), writer.get())) left_out.push_back(name);
    }
  } catch (...) {
    sink.broke_off = true;
    archive_write_close(writer.get());
    throw;
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK)
    fail(ErrorCode::internal, directory.string(), writer.get());
  return left_out;
}

void unpack(int fd, const fs::path& directory) {
  const fs::path place = fs::canonical(directory);
  const Reader reader(archive_read_new(), &archive_read_free);
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_fd(reader.get(), fd, kBlockBytes) != ARCHIVE_OK)
    fail(ErrorCode::invalid, "the sandbox's archive", reader.get());
  const Writer disk(archive_write_disk_new(), &archive_write_free);
  archive_write_disk_set_options(disk.get(), ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_PERM |
                                                 ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                                                 ARCHIVE_EXTRACT_SECURE_NODOTDOT);
  for (;;) {
    archive_entry* entry = nullptr;
    const int got = archive_read_next_header(reader.get(), &entry);
    if (got == ARCHIVE_EOF) break;
    // A warning is about a name that is no text in this locale; its bytes are there nevertheless.
    if (got < ARCHIVE_WARN) fail(ErrorCode::invalid, "the sandbox's archive", reader.get());
    unpack_entry(entry, reader.get(), disk.get(), place);
  }
  if (archive_write_close(disk.get()) < ARCHIVE_OK)
    fail(ErrorCode::internal, place.string(), disk.get());
  drain(fd);
}

}  // namespace sandgate::cli
