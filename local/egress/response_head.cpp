#include "local/egress/response_head.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

// Nothing is coded by "identity", which old servers send. Any other coding, or a second field, may
// be understood by the client in a way of its own.
void read_coding(std::string_view value, bool is_first, ResponseHead& head) {
  if (!is_first)
    head.body = ResponseHead::Body::unknown;
  else if (equal_ignoring_case(value, "chunked"))
    head.body = ResponseHead::Body::chunked;
  else if (!equal_ignoring_case(value, "identity"))
    head.body = ResponseHead::Body::unknown;
}

void read_status(std::string_view line, ResponseHead& head) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  head.status = line.substr(space + 1, 3);
  head.is_switch = head.status == "101";
  head.is_interim = !head.is_switch && head.status.starts_with('1');
}

}  // namespace

std::string_view take_response_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == text.npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

ResponseField response_field(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const size_t colon = line.find(':');
  if (colon == line.npos) return {};
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

ResponseHead parse_response_head(std::string_view text) {
  ResponseHead head;
  size_t codings = 0, upgrades = 0;
  bool names_websocket = false;
  read_status(take_response_line(text), head);
  while (!text.empty()) {
    const auto [name, value] = response_field(take_response_line(text));
    if (equal_ignoring_case(name, "transfer-encoding")) read_coding(value, codings++ == 0, head);
    if (equal_ignoring_case(name, "upgrade"))
      names_websocket = upgrades++ == 0 && equal_ignoring_case(value, "websocket");
  }
  head.to_websocket = head.is_switch && names_websocket;
  return head;
}

size_t end_of_response_head(std::string_view text, size_t read) {
  constexpr size_t kOverlap = 2;  // of an empty line with what was read
  for (size_t at = text.find('\n', read - std::min(read, kOverlap)); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    if (text.substr(at).starts_with("\n\n")) return at + 2;
    if (text.substr(at).starts_with("\n\r\n")) return at + 3;
  }
  return std::string_view::npos;
}

bool has_folded_line(std::string_view text, size_t read) {
  const std::string_view lines = text.substr(read - std::min<size_t>(read, 1));
  return lines.find("\n ") != lines.npos || lines.find("\n\t") != lines.npos;
}

}  // namespace sandgate::egress
