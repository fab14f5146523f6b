#include "providers/byte_sources.hpp"

#include <algorithm>

#include "gateway/core/random.hpp"

namespace sandgate {

Task<size_t> PartOfBytes::read(std::span<char> into) {
  while (skip_ > 0) {
    const auto room = into.first(std::min<uint64_t>(into.size(), skip_));
    const size_t count = co_await bytes_->read(room);
    if (count == 0) co_return 0;
    skip_ -= count;
  }
  if (left_ == 0) co_return 0;
  const auto room = into.first(std::min<uint64_t>(into.size(), left_));
  const size_t count = co_await bytes_->read(room);
  left_ -= count;
  co_return count;
}

FormFile::FormFile(ByteSource& file, std::string field, std::string file_name,
                   std::vector<std::pair<std::string, std::string>> texts)
    : boundary_("sandgate" + random_hex(16)), file_(file) {
  const std::string start = "--" + boundary_ + "\r\nContent-Disposition: form-data; name=\"";
  for (const auto& [name, value] : texts) text_ += start + name + "\"\r\n\r\n" + value + "\r\n";
  std::erase_if(file_name, [](char c) { return c == '"' || c == '\r' || c == '\n'; });
  text_ += start + field + "\"; filename=\"" + file_name +
           "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
}

Task<size_t> FormFile::read(std::span<char> into) {
  for (;;) {
    if (const size_t count = text_.copy(into.data(), into.size(), at_)) {
      at_ += count;
      co_return count;
    }
    if (file_ended_) co_return 0;
    const size_t count = co_await file_.read(into);
    if (count > 0) co_return count;
    file_ended_ = true;
    text_ = "\r\n--" + boundary_ + "--\r\n";
    at_ = 0;
  }
}

}  // namespace sandgate
