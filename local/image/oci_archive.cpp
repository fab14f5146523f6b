#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "local/image/oci_layout.hpp"
#include "local/image/run_in_chroot.hpp"
#include "local/image/tar_input.hpp"

namespace sandgate {
namespace {

constexpr int64_t kMaxArchive = int64_t{32} << 30;
constexpr int64_t kMaxStream = kMaxArchive + (int64_t{1} << 30);  // with its headers
constexpr int kMaxFiles = 4096;
constexpr const char* kNoArchive = "it is no tar archive, plain or compressed by gzip or zstd";

void take_bytes(int64_t count, int64_t& budget) {
  if ((budget -= count) < 0) throw Error(ErrorCode::invalid, "the archive is damaged or too large");
}

// Subtracts the written bytes from `budget`.
void write_member(archive* in, const std::string& path, int64_t& budget) {
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) throw Error(ErrorCode::invalid, "the archive has a file twice");
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const la_ssize_t got = archive_read_data(in, buffer.data(), buffer.size());
    if (got == 0) return;
    if (got < 0) throw Error(ErrorCode::invalid, "the archive is damaged or too large");
    take_bytes(got, budget);
    if (write(file.get(), buffer.data(), static_cast<size_t>(got)) != got)
      throw Error(ErrorCode::unavailable, "the image store's disk is full");
  }
}

void unpack_here(int archive_file) {
  static const std::regex kName("(\\./)?(oci-layout|index\\.json|blobs/sha256/[0-9a-f]{64})");
  int64_t stream = kMaxStream;
  const TarInput in(archive_file, stream, kNoArchive);
  archive_entry* entry = nullptr;
  int64_t budget = kMaxArchive;
  for (int files = 0;; ++files) {
    const int result = archive_read_next_header(in.get(), &entry);
    if (result == ARCHIVE_EOF) return;
    if (result != ARCHIVE_OK && files == 0) throw Error(ErrorCode::invalid, kNoArchive);
    if (result != ARCHIVE_OK || files > kMaxFiles)
      throw Error(ErrorCode::invalid, "the archive is damaged or has too many files");
    const char* raw = archive_entry_pathname(entry);
    const std::string name = raw == nullptr ? "" : raw;
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr ||
        !std::regex_match(name, kName)) {
      // Directories and other members are not part of the image, but are read over.
      take_bytes(std::max<int64_t>(0, archive_entry_size(entry)), budget);
      continue;
    }
    write_member(in.get(), "/" + name, budget);
  }
}

}  // namespace

// Runs inside the directory only, because the archive may exploit bugs in the unpacking code.
void unpack_oci_archive(const std::string& archive_path, const std::string& directory) {
  const Fd file(open(archive_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw Error(ErrorCode::invalid, archive_path + " cannot be read");
  std::filesystem::create_directories(directory + "/blobs/sha256");
  const auto unpack = [&] {
    unpack_here(file.get());
    return std::string();
  };
  run_in_chroot(directory, unpack, file.get());
}

}  // namespace sandgate
