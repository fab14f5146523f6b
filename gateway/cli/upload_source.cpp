#include "gateway/cli/upload_source.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/files.hpp"

namespace sandgate::cli {

UploadSource::UploadSource(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::binary) {
  if (!file_ || ::stat(path.c_str(), &status_) != 0)
    throw Error(ErrorCode::not_found, cannot_read(path.string()));
  // Without a block there is either nothing on a disk or nothing but zeros.
  if (S_ISREG(status_.st_mode) && status_.st_blocks > 0)
    size_ = static_cast<uint64_t>(status_.st_size);
}

std::optional<std::string> UploadSource::mode() const {
  if (!S_ISREG(status_.st_mode)) return std::nullopt;
  std::string digits = "0";
  for (const int shift : {6, 3, 0})
    digits += static_cast<char>('0' + (status_.st_mode >> shift & 7));
  return digits;
}

size_t UploadSource::read(char* into, size_t room) {
  if (size_) room = static_cast<size_t>(std::min<uint64_t>(room, *size_ - sent_));
  if (room == 0) return 0;
  file_.read(into, static_cast<std::streamsize>(room));
  const auto got = static_cast<size_t>(file_.gcount());
  sent_ += got;
  if (file_.bad()) throw Error(ErrorCode::invalid, "cannot read " + path_.string());
  // The gateway would wait for the rest.
  if (got == 0 && size_)
    throw Error(ErrorCode::invalid, path_.string() + " became shorter while it was read");
  return got;
}

}  // namespace sandgate::cli
