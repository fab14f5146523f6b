#include "gateway/compat/e2b/multipart.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr size_t kLongestBoundary = 70;  // RFC 2046, 5.1.1
constexpr size_t kLongestHead = 16 << 10;
constexpr size_t kReadAhead = 64 << 10;
constexpr size_t kMaxPartsRead = 2000;  // of any name
constexpr std::string_view kSpecials = "()<>@,;:\\\"/[]?=";
constexpr std::string_view kDisposition = "content-disposition:";

Error malformed(const char* what) {
  return Error(ErrorCode::invalid, std::string("the multipart body ") + what);
}

// Cuts a value, quoted or not, off the front of `text`. A backslash escapes only what cannot stand
// in a token, as for Go's mime package, with which E2B's own server reads names.
std::string taken_value(std::string_view& text) {
  std::string value;
  if (!text.starts_with('"')) {
    value = text.substr(0, text.find_first_of("; \t"));
    text.remove_prefix(value.size());
    return value;
  }
  size_t at = 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    const bool escapes = text[at] == '\\' && at + 1 < text.size() &&
                         kSpecials.find(text[at + 1]) != std::string_view::npos;
    if (escapes) ++at;
    value.push_back(text[at]);
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return value;
}

// Returns the value of the first parameter of this name; empty if there is none.
std::string parameter(std::string_view text, std::string_view name) {
  text.remove_prefix(std::min(text.find(';'), text.size()));
  while (!text.empty()) {
    text.remove_prefix(1);  // ';'
    const size_t end = std::min(text.find_first_of("=;"), text.size());
    const bool wanted = equal_ignoring_case(trimmed(text.substr(0, end)), name);
    text.remove_prefix(end);
    std::string value;
    if (text.starts_with('=')) {
      text.remove_prefix(1);
      value = taken_value(text);
    }
    if (wanted) return value;
    text.remove_prefix(std::min(text.find(';'), text.size()));
  }
  return "";
}

}  // namespace

std::string boundary_of(std::string_view content_type) {
  std::string boundary = parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary)
    throw malformed("has no usable boundary");
  return boundary;
}

MultipartReader::Part part_from(std::string_view disposition) {
  return {parameter(disposition, "name"), parameter(disposition, "filename")};
}

// `held_` starts with a line break, because the first boundary may have none before it.
MultipartReader::MultipartReader(ByteSource& body, std::string_view boundary)
    : body_(body), mark_("\r\n--" + std::string(boundary)), held_("\r\n"), in_part_(true) {}

// Returns false at the end of the body.
Task<bool> MultipartReader::fill() {
  const size_t size = held_.size();
  held_.resize(size + kReadAhead);
  const std::span<char> room(held_.data() + size, kReadAhead);
  const size_t count = co_await body_.read(room);
  held_.resize(size + count);
  co_return count > 0;
}

Task<size_t> MultipartReader::read(std::span<char> into) {
  while (in_part_) {
    const size_t mark = held_.find(mark_);
    // The last bytes held may be the start of a mark.
    const size_t plain = mark != std::string::npos     ? mark
                         : held_.size() > mark_.size() ? held_.size() - mark_.size()
                                                       : 0;
    if (plain > 0) {
      const size_t count = held_.copy(into.data(), std::min(plain, into.size()));
      held_.erase(0, count);
      co_return count;
    }
    if (mark == 0) {
      held_.erase(0, mark_.size());
      in_part_ = false;
      break;
    }
    const bool more = co_await fill();
    if (!more) throw malformed("is cut off");
  }
  co_return 0;
}

// Returns the header lines of a part; empty after the last part.
Task<std::optional<std::string>> MultipartReader::read_head() {
  for (;;) {
    if (held_.starts_with("--")) co_return std::nullopt;
    const size_t end = held_.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = held_.substr(0, end);
      held_.erase(0, end + 4);
      co_return head;
    }
    if (held_.size() > kLongestHead) throw malformed("has a part with an endless head");
    const bool more = co_await fill();
    if (!more) throw malformed("is cut off");
  }
}

Task<std::optional<MultipartReader::Part>> MultipartReader::next() {
  if (++parts_ > kMaxPartsRead) throw malformed("has too many parts");
  dropped_.resize(kReadAhead);
  for (size_t count = 1; count > 0;) count = co_await read(dropped_);
  if (ended_) co_return std::nullopt;
  const auto head = co_await read_head();
  ended_ = !head;
  in_part_ = !ended_;
  if (ended_) co_return std::nullopt;
  for (size_t at = 0; at < head->size();) {
    const size_t end = std::min(head->find("\r\n", at), head->size());
    const std::string_view line = std::string_view(*head).substr(at, end - at);
    if (starts_with_ignoring_case(line, kDisposition)) co_return part_from(line);
    at = end + 2;
  }
  throw malformed("has a part without Content-Disposition");
}

}  // namespace sandgate::compat::e2b
