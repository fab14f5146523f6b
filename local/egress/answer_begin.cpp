#include "local/egress/answer_begin.hpp"

#include <algorithm>
#include <utility>

#include "gateway/core/field_text.hpp"
#include "local/egress/response_head.hpp"

namespace sandgate::egress {
namespace {

constexpr std::string_view kOtherProtocol = "other_protocol";

// Anything else is passed on as it is, as long as clients do not take it for a switch.
bool may_begin_head(std::string_view bytes) {
  constexpr std::string_view kVersion = "HTTP/1.";
  return bytes.substr(0, kVersion.size()) == kVersion.substr(0, bytes.size());
}

bool is_about_connection(std::string_view name) {
  return equal_ignoring_case(name, "connection") || equal_ignoring_case(name, "keep-alive") ||
         equal_ignoring_case(name, "proxy-connection");
}

// A field over several lines stays whole: without its first line, the rest would join another.
std::string with_close(std::string_view head) {
  const bool is_folded = has_folded_line(head, 0);
  std::string text(take_response_line(head));
  text += "Connection: close\r\n";
  while (!head.empty()) {
    const std::string_view line = take_response_line(head);
    if (is_folded || !is_about_connection(response_field(line).name)) text += line;
  }
  return text;
}

}  // namespace

std::string AnswerBegin::take(std::string_view bytes) {
  begin_ += bytes;
  std::string passed;
  while (!over_) {
    if (!may_begin_head(begin_)) {
      over_ = true;
      break;
    }
    const size_t end = end_of_response_head(begin_, std::exchange(read_, begin_.size()));
    if (end == begin_.npos && begin_.size() <= kMaxResponseHead) return passed;
    passed += take_head(std::min(end, kMaxResponseHead + 1));
  }
  return wrong_.empty() ? passed + std::exchange(begin_, {}) : passed;
}

std::string AnswerBegin::rest() { return std::exchange(begin_, {}); }

// What is longer than a head may be is taken for one that ends there, but switches to nothing: the
// client finds its end elsewhere.
std::string AnswerBegin::take_head(size_t end) {
  const std::string head = begin_.substr(0, end);
  const bool is_whole = end <= kMaxResponseHead;
  begin_.erase(0, end);
  read_ = 0;
  const ResponseHead parsed = parse_response_head(head);
  if (parsed.is_interim && is_whole) return head;
  over_ = true;
  if (!parsed.is_switch) return is_whole ? with_close(head) : head;
  switches_ = is_whole && asks_for_websocket_ && parsed.to_websocket;
  if (!switches_) wrong_ = kOtherProtocol;
  return switches_ ? head : std::string();
}

}  // namespace sandgate::egress
