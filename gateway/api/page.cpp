#include "gateway/api/page.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/number_text.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxCursorBytes = 8192;
constexpr size_t kMarkBytes = 8;
constexpr int64_t kLastMicros = 253'402'300'799'999'999;  // the end of the year 9999

Error bad_cursor() {
  return Error::invalid("/cursor", "is not a cursor of this list with these filters");
}

// Not a signature: a forged cursor only shows the caller's own rows from another position.
std::string mark_of(const std::string& list) { return sha256_hex(list).substr(0, kMarkBytes); }

bool narrows(std::string_view name, std::initializer_list<std::string_view> filters) {
  return std::any_of(filters.begin(), filters.end(), [&](std::string_view filter) {
    return filter.ends_with('.') ? name.starts_with(filter) : name == filter;
  });
}

// Everything that determines the rows of a list, as unambiguous JSON text.
std::string list_of(const http::Request& request, std::initializer_list<std::string_view> filters) {
  std::vector<std::pair<std::string, std::string>> chosen;
  for (const auto& item : request.query.items())
    if (narrows(item.first, filters)) chosen.push_back(item);
  std::sort(chosen.begin(), chosen.end());
  return Json::array({request.route, request.params, chosen}).dump();
}

std::vector<std::string> from_cursor(std::string text, const std::string& list, size_t parts) {
  if (text.size() > kMaxCursorBytes) throw bad_cursor();
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text.push_back('=');
  const auto decoded = base64_decode(text);
  const Json cursor =
      decoded ? Json::parse(*decoded, nullptr, /*allow_exceptions=*/false) : Json::array();
  if (!cursor.is_array() || cursor.size() != parts + 1) throw bad_cursor();
  std::vector<std::string> values;
  for (const Json& part : cursor) {
    if (!part.is_string()) throw bad_cursor();
    values.push_back(part.get<std::string>());
    if (values.back().find('\0') != std::string::npos) throw bad_cursor();
  }
  if (values.front() != mark_of(list)) throw bad_cursor();
  values.erase(values.begin());
  return values;
}

}  // namespace

int64_t PageRequest::integer_after(size_t part) const {
  const std::string& text = after.at(part);
  const auto value = number_from<int64_t>(text);
  if (!value || *value < 0) throw bad_cursor();
  return *value;
}

Time PageRequest::time_after(size_t part) const {
  const auto time = from_rfc3339(after.at(part));
  if (!time) throw bad_cursor();
  return *time;
}

std::optional<std::pair<Time, std::string>> PageRequest::created_after() const {
  if (after.empty()) return std::nullopt;
  const int64_t micros = integer_after(0);
  if (micros > kLastMicros) throw bad_cursor();
  return std::pair(from_micros(micros), after.at(1));
}

PageRequest read_page(const http::Request& request, size_t parts,
                      std::initializer_list<std::string_view> filters) {
  return read_page(request.query, parts, list_of(request, filters));
}

PageRequest read_page(const http::Query& query, size_t parts, std::string list) {
  PageRequest page{.list = std::move(list)};
  page.limit = query.integer("limit", 1, 100, page.limit);
  if (auto cursor = query.find("cursor"))
    page.after = from_cursor(std::move(*cursor), page.list, parts);
  return page;
}

std::string to_cursor(const std::string& list, const std::vector<std::string>& parts) {
  Json cursor = Json::array({mark_of(list)});
  for (const std::string& part : parts) cursor.push_back(part);
  std::string text = base64_encode(cursor.dump());
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::min(text.find('='), text.size()));
  return text;
}

}  // namespace sandgate::api
