#include "gateway/api/file_conditions.hpp"

#include <charconv>
#include <cstdio>

#include "gateway/core/field_text.hpp"
#include "gateway/core/percent.hpp"
#include "gateway/core/utf8.hpp"
#include "gateway/http/date.hpp"

namespace sandgate::api {
namespace {

constexpr std::string_view kUnit = "bytes=";

// Parses the whole text as a number, saturating at the maximum; empty if it is not a number.
std::optional<uint64_t> size_from(std::string_view text) {
  uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::result_out_of_range && end == text.data() + text.size())
    return UINT64_MAX;
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_weak(std::string_view tag) { return tag.starts_with("W/"); }
std::string_view opaque_part(std::string_view tag) { return tag.substr(is_weak(tag) ? 2 : 0); }

// Whether the header is a list with "*" or an item for which `matches` holds.
template <class Matches>
bool any_item(std::string_view header, Matches matches) {
  for (;;) {
    const size_t comma = header.find(',');
    const std::string_view item = trimmed(header.substr(0, comma));
    if (item == "*" || matches(item)) return true;
    if (comma == std::string_view::npos) return false;
    header.remove_prefix(comma + 1);
  }
}

std::optional<Time> date_in(std::optional<std::string_view> header) {
  return header ? http::date_from(*header, SystemClock().now()) : std::nullopt;
}

// Dates of headers have no fractions of a second.
bool is_younger(const FileEntry& entry, Time date) {
  return entry.modified_at >= date + std::chrono::seconds(1);
}

}  // namespace

Json to_json(const FileEntry& entry) {
  Json json{{"name", to_utf8(entry.name)},    {"path", to_utf8(entry.path)},
            {"type", to_string(entry.type)},  {"size", entry.size},
            {"mode", octal_mode(entry.mode)}, {"modified_at", to_rfc3339(entry.modified_at)}};
  if (entry.target) json["target"] = to_utf8(*entry.target);
  return json;
}

std::string entity_tag(const FileEntry& entry) {
  char text[48];
  std::snprintf(text, sizeof(text), "%llx-%llx", static_cast<unsigned long long>(entry.size),
                static_cast<unsigned long long>(to_micros(entry.modified_at)));
  const std::string& revision = entry.revision;
  // The revision comes from a sandbox or another server and may contain anything.
  const bool fits = !revision.empty() && is_visible_ascii(revision) &&
                    revision.find_first_of("\",") == std::string::npos;
  if (!fits) return "W/\"" + std::string(text) + "\"";
  return "\"" + std::string(text) + "-" + revision + "\"";
}

bool matches_tag(std::string_view header, std::string_view tag) {
  return any_item(header, [&](auto item) { return opaque_part(item) == opaque_part(tag); });
}

bool matches_tag_strongly(std::string_view header, std::string_view tag) {
  return any_item(header, [&](auto item) { return item == tag && !is_weak(tag); });
}

Conditions::Conditions(const http::Headers& headers)
    : match(headers.list("If-Match")),
      none_match(headers.list("If-None-Match")),
      modified_since(headers.find("If-Modified-Since")),
      unmodified_since(headers.find("If-Unmodified-Since")) {}

bool Conditions::expect(const std::optional<FileEntry>& there) const {
  if (match) return there && matches_tag_strongly(*match, entity_tag(*there));
  const auto date = date_in(unmodified_since);
  return !date || !there || !is_younger(*there, *date);
}

bool Conditions::allow_write(const std::optional<FileEntry>& there) const {
  return expect(there) && !(none_match && there && matches_tag(*none_match, entity_tag(*there)));
}

bool Conditions::is_known(const FileEntry& there) const {
  if (none_match) return matches_tag(*none_match, entity_tag(there));
  const auto date = date_in(modified_since);
  return date && !is_younger(there, *date);
}

bool matches_version(std::string_view if_range, const FileEntry& there) {
  const auto date = date_in(if_range);
  if (!date) return matches_tag_strongly(if_range, entity_tag(there));
  return std::chrono::floor<std::chrono::seconds>(there.modified_at) == *date;
}

std::optional<RequestedRange> range_from(std::string_view header) {
  header = trimmed(header);
  if (!starts_with_ignoring_case(header, kUnit) || header.find(',') != std::string_view::npos)
    return std::nullopt;
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first_text = trimmed(header.substr(0, dash)),
             last_text = trimmed(header.substr(dash + 1));
  const auto first = size_from(first_text), last = size_from(last_text);
  RequestedRange range;
  if (first_text.empty()) {
    if (!last) return std::nullopt;
    range.count = *last;
    return range;
  }
  if (!first || (!last_text.empty() && !last) || (last && *last < *first)) return std::nullopt;
  range.first = first;
  range.last = last;
  return range;
}

std::optional<ByteRange> resolve(const RequestedRange& range, uint64_t size) {
  if (size == 0) return std::nullopt;
  if (!range.first) {
    if (range.count == 0) return std::nullopt;
    return ByteRange{size - std::min(size, range.count), size - 1};
  }
  if (*range.first >= size) return std::nullopt;
  return ByteRange{*range.first, std::min(range.last.value_or(size - 1), size - 1)};
}

std::string content_disposition(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    const auto c = static_cast<unsigned char>(letter);
    plain.push_back(std::isalnum(c) || c == '.' || c == '-' || c == '_' ? letter : '_');
  }
  return "attachment; filename=\"" + plain + "\"; filename*=UTF-8''" + percent_encode(name);
}

}  // namespace sandgate::api
