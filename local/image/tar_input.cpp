#include "local/image/tar_input.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

constexpr size_t kReadBytes = 256 << 10, kMagicBytes = 4;

bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

// Some programs put a frame to be skipped first, which has one of sixteen numbers.
bool is_zstd(std::string_view head) {
  if (head.starts_with("\x28\xb5\x2f\xfd")) return true;
  return head.size() >= kMagicBytes && (head[0] & 0xf0) == 0x50 &&
         head.substr(1).starts_with("\x2a\x4d\x18");
}

}  // namespace

TarInput::TarInput(int file, int64_t& left, const char* refusal)
    : file_(file),
      left_(left),
      buffer_(kReadBytes),
      bytes_(archive_read_new(), archive_read_free),
      tar_(archive_read_new(), archive_read_free) {
  archive_read_support_format_tar(tar_.get());
  archive_read_support_format_empty(tar_.get());
  while (filled_ < kMagicBytes && fill()) {
  }
  const bool opened = open_bytes() && archive_read_open(tar_.get(), this, nullptr, read_bytes,
                                                        nullptr) == ARCHIVE_OK;
  if (!opened && !too_large()) throw Error(ErrorCode::invalid, refusal);
}

// libarchive is told the compression instead of finding it: it would take off one layer after the
// other, and between two of them there is no bound.
bool TarInput::open_bytes() {
  archive* const in = bytes_.get();
  const std::string_view head(buffer_.data(), filled_);
  archive_read_support_format_raw(in);
  archive_read_support_format_empty(in);
  const int filter = is_gzip(head)   ? ARCHIVE_FILTER_GZIP
                     : is_zstd(head) ? ARCHIVE_FILTER_ZSTD
                                     : ARCHIVE_FILTER_NONE;
  if (archive_read_append_filter(in, filter) < ARCHIVE_WARN ||
      archive_read_open(in, this, nullptr, read_file, nullptr) != ARCHIVE_OK)
    return false;
  archive_entry* whole = nullptr;
  const int result = archive_read_next_header(in, &whole);
  empty_ = result == ARCHIVE_EOF;
  return result == ARCHIVE_OK || empty_;
}

// Returns false at the end of the file, and when it cannot be read.
bool TarInput::fill() {
  ssize_t got = 0;
  do {
    got = read(file_, buffer_.data() + filled_, buffer_.size() - filled_);
  } while (got < 0 && errno == EINTR);
  if (got > 0) filled_ += static_cast<size_t>(got);
  failed_ = got < 0;
  return got > 0;
}

la_ssize_t TarInput::read_file(archive* in, void* self, const void** bytes) {
  auto& input = *static_cast<TarInput*>(self);
  if (input.filled_ == 0 && !input.fill() && input.failed_) {
    archive_set_error(in, errno, "cannot be read");
    return -1;
  }
  *bytes = input.buffer_.data();
  return static_cast<la_ssize_t>(std::exchange(input.filled_, 0));
}

la_ssize_t TarInput::read_bytes(archive* tar, void* self, const void** bytes) {
  auto& input = *static_cast<TarInput*>(self);
  if (input.empty_) return 0;
  size_t size = 0;
  la_int64_t offset = 0;
  const int result = archive_read_data_block(input.bytes_.get(), bytes, &size, &offset);
  if (result == ARCHIVE_EOF) return 0;
  if (result == ARCHIVE_OK && (input.left_ -= static_cast<int64_t>(size)) >= 0)
    return static_cast<la_ssize_t>(size);
  archive_set_error(tar, EINVAL, "is damaged or too large");
  return -1;
}

}  // namespace sandgate
