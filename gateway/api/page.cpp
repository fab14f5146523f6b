#include "gateway/api/page.hpp"

#include <algorithm>
#include <charconv>

#include "gateway/core/crypto.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxCursorBytes = 8192;
constexpr int64_t kLastMicros = 253'402'300'799'999'999;  // of the year 9999

Error bad_cursor() { return Error::invalid("?cursor", "is not a cursor of this list"); }

std::vector<std::string> from_cursor(std::string text, size_t parts) {
  if (text.size() > kMaxCursorBytes) throw bad_cursor();
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text.push_back('=');
  const auto decoded = base64_decode(text);
  const Json list =
      decoded ? Json::parse(*decoded, nullptr, /*allow_exceptions=*/false) : Json::array();
  if (!list.is_array() || list.size() != parts) throw bad_cursor();
  std::vector<std::string> values;
  for (const Json& part : list) {
    if (!part.is_string()) throw bad_cursor();
    values.push_back(part.get<std::string>());
    if (values.back().find('\0') != std::string::npos) throw bad_cursor();
  }
  return values;
}

}  // namespace

int64_t PageRequest::integer_after(size_t part) const {
  const std::string& text = after.at(part);
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  if (!whole || value < 0) throw bad_cursor();
  return value;
}

Time PageRequest::time_after(size_t part) const {
  const auto time = from_rfc3339(after.at(part));
  if (!time) throw bad_cursor();
  return *time;
}

Time PageRequest::micros_after(size_t part) const {
  const int64_t micros = integer_after(part);
  if (micros > kLastMicros) throw bad_cursor();
  return from_micros(micros);
}

PageRequest read_page(const http::Query& query, size_t parts) {
  PageRequest page;
  page.limit = query.integer("limit", 1, 100, page.limit);
  if (auto cursor = query.find("cursor")) page.after = from_cursor(std::move(*cursor), parts);
  return page;
}

std::string to_cursor(const std::vector<std::string>& parts) {
  std::string text = base64_encode(Json(parts).dump());
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::min(text.find('='), text.size()));
  return text;
}

}  // namespace sandgate::api
