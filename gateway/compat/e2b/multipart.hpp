#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "providers/sandbox.hpp"

namespace sandgate::compat::e2b {

// Returns the boundary of "multipart/form-data; boundary=…". Throws Error(invalid) if there is no
// usable one.
std::string boundary_of(std::string_view content_type);

// Reads the parts of a multipart/form-data body (RFC 7578) in order, in bounded memory. read()
// returns the bytes of the part that next() returned. Both throw Error(invalid) for malformed
// bodies.
class MultipartReader : public ByteSource {
 public:
  struct Part {
    std::string name, file_name;  // as in Content-Disposition
  };
  // `body` must outlive this object.
  MultipartReader(ByteSource& body, std::string_view boundary);

  // Skips the rest of the current part and returns the next; empty after the last.
  Task<std::optional<Part>> next();
  Task<size_t> read(std::span<char> into) override;

 private:
  Task<bool> fill();
  Task<std::optional<std::string>> read_head();

  ByteSource& body_;
  const std::string mark_;  // "\r\n--boundary"
  std::string held_;  // read but not yet returned
  std::string dropped_;  // scratch space for skipped bytes
  size_t parts_ = 0;
  bool in_part_ = false, ended_ = false;
};

// Parses a Content-Disposition header. What browsers escape in names ("%22") stays as it is: it
// cannot be told from a name that is written so.
MultipartReader::Part part_from(std::string_view disposition);

}  // namespace sandgate::compat::e2b
