#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "providers/sandbox.hpp"

namespace sandgate::compat::e2b {

// The boundary of "multipart/form-data; boundary=…". Throws Error(invalid) without a usable one.
std::string boundary_of(std::string_view content_type);

// The parts of a multipart/form-data body (RFC 7578), one after the other, in bounded memory:
// read() gives the bytes of the part that next() told of. Both throw Error(invalid) for bad
// framing.
class MultipartReader : public ByteSource {
 public:
  struct Part {
    std::string name, file_name;  // as in Content-Disposition
  };
  // `body` must outlive it.
  MultipartReader(ByteSource& body, std::string_view boundary);

  // What is left of the part before is dropped. Empty: that was the last.
  Task<std::optional<Part>> next();
  Task<size_t> read(std::span<char> into) override;

 private:
  Task<bool> fill();
  Task<std::optional<std::string>> read_head();

  ByteSource& body_;
  const std::string mark_;  // "\r\n--boundary"
  std::string held_;  // read and not yet given away
  std::string dropped_;  // of a part that nobody wants
  size_t parts_ = 0;
  bool in_part_ = false, ended_ = false;
};

// One header line's name and file name; escapes of browsers resolved.
MultipartReader::Part part_from(std::string_view disposition);

}  // namespace sandgate::compat::e2b
