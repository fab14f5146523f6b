#include "gateway/http/token.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::http {
namespace {

constexpr size_t kMaxTraceState = 512;
constexpr size_t kMaxPortBytes = 6;  // ":65535"

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_hex_id(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (equal_ignoring_case(trimmed(list.substr(0, end)), token)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_host(std::string_view text) {
  constexpr std::string_view kLiteral = "0123456789abcdefABCDEF:.vV", kInName = "-._~%!$&'()*+;=";
  size_t end = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    if (text.substr(1, end - 1).find_first_not_of(kLiteral) != std::string_view::npos) return false;
    ++end;
  } else if (!std::all_of(text.begin(), text.begin() + static_cast<long>(end), [&](char c) {
               return is_alphanumeric(c) || kInName.find(c) != std::string_view::npos;
             })) {
    return false;
  }
  const std::string_view port = text.substr(end);
  return port.empty() || (port.front() == ':' && port.size() <= kMaxPortBytes &&
                          port.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

bool is_tracestate(std::string_view text) {
  return text.size() <= kMaxTraceState &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_traceparent(std::string_view text) {
  if (text.size() != 55 || !text.starts_with("00-") || text[35] != '-' || text[52] != '-')
    return false;
  const auto trace = text.substr(3, 32), parent = text.substr(36, 16), flags = text.substr(53);
  return is_hex_id(trace) && is_hex_id(parent) && is_hex_id(flags) && !is_zero(trace) &&
         !is_zero(parent);
}

}  // namespace sandgate::http
