#pragma once
#include <archive.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace sandgate {

// Reader of an untrusted tar archive: plain, or compressed once by gzip or zstd. However small the
// file is, no more bytes come out of it than allowed, whoever asks for them: also libarchive when
// it reads over a member, whose length is independent of the size that the member claims to have.
class TarInput {
 public:
  // Subtracts from `left` what comes out of `file`, headers included; at 0 the archive breaks off.
  // Both must outlive this object. Throws Error(invalid, refusal) if it cannot be read at all.
  TarInput(int file, int64_t& left, const char* refusal);
  TarInput(const TarInput&) = delete;

  archive* get() const { return tar_.get(); }
  bool too_large() const { return left_ < 0; }  // why it broke off

 private:
  using Archive = std::unique_ptr<archive, decltype(&archive_read_free)>;
  static la_ssize_t read_file(archive* in, void* self, const void** bytes);
  static la_ssize_t read_bytes(archive* in, void* self, const void** bytes);
  bool fill();
  bool open_bytes();

  const int file_;
  int64_t& left_;
  std::vector<char> buffer_;
  size_t filled_ = 0;  // bytes of the buffer that are not passed on yet
  bool failed_ = false, empty_ = false;
  Archive bytes_, tar_;  // what decompresses; the tar reader, which reads from it
};

}  // namespace sandgate
