#include "providers/shell/end_mark.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace sandgate {
namespace {

constexpr char kMarkBegins = '\x1e';
constexpr size_t kMaxDigits = 4;

// Returns the length of the longest suffix of `text` that is a prefix of `start`.
size_t overlap(std::string_view text, std::string_view start) {
  for (size_t length = std::min(text.size(), start.size()); length > 0; --length)
    if (start.starts_with(text.substr(text.size() - length))) return length;
  return 0;
}

}  // namespace

EndMark::EndMark(std::string word) : start_(kMarkBegins + std::move(word) + ':') {}

std::string EndMark::line_of(const std::string& word, bool both) {
  const std::string line = "printf '\\036%s:%d;' " + word + " $s";
  return both ? line + "; " + line + " >&2" : line;
}

std::string EndMark::add(std::string_view bytes) {
  if (seen_) return "";
  held_.append(bytes);
  const size_t at = held_.find(start_);
  if (at == std::string::npos) {
    const size_t keep = overlap(held_, start_);
    std::string output = held_.substr(0, held_.size() - keep);
    held_.erase(0, output.size());
    return output;
  }
  const size_t number = at + start_.size();
  const size_t end = held_.find(';', number);
  if (end == std::string::npos && held_.size() <= number + kMaxDigits) {
    std::string output = held_.substr(0, at);
    held_.erase(0, at);
    return output;
  }
  const char* last = held_.data() + std::min(end, held_.size());
  const auto [read, wrong] = std::from_chars(held_.data() + number, last, status_);
  if (end == std::string::npos || wrong != std::errc() || read != last)
    return std::exchange(held_, {});
  seen_ = true;
  return held_.substr(0, at);
}

}  // namespace sandgate
