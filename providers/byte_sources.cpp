#include "providers/byte_sources.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/random.hpp"

namespace sandgate {

Task<size_t> fill(ByteSource& bytes, std::span<char> into) {
  size_t filled = 0;
  for (size_t count = 1; count > 0 && filled < into.size(); filled += count)
    count = co_await bytes.read(into.subspan(filled));
  co_return filled;
}

Task<size_t> SlicedBytes::read(std::span<char> into) {
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

Task<size_t> StdoutBytes::read(std::span<char> into) {
  while (taken_ == piece_.size() && !ended_) co_await refill();
  const size_t count = piece_.copy(into.data(), into.size(), taken_);
  taken_ += count;
  co_return count;
}

Task<void> StdoutBytes::refill() {
  auto event = co_await process_->next();
  const auto* exit = event ? std::get_if<ProcessExit>(&*event) : nullptr;
  if (!event || (exit && exit->exit_code != 0))
    throw Error(ErrorCode::unavailable, "the sandbox ended the file early");
  piece_.clear();
  taken_ = 0;
  ended_ = exit != nullptr;
  if (ended_) co_return;
  auto& chunk = std::get<OutputChunk>(*event);
  if (chunk.channel == Channel::stdout_) piece_ = std::move(chunk.bytes);
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
