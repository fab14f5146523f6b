#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace sandgate::egress {

// What the head of an HTTP/1 answer says about the bytes behind it.
struct ResponseHead {
  enum class Body { plain, chunked, unknown };  // unknown: a transfer coding that is not understood
  Body body = Body::plain;
  std::string status;  // three digits, where the head is well-formed
  bool is_interim = false;  // another head follows
  bool is_switch = false;  // 101: HTTP ends here
  bool to_websocket = false;  // the switch is to a WebSocket
};

inline constexpr size_t kMaxResponseHead = 64 * 1024;

// Reads a head including its empty line. It is lenient wherever programs are, so that it never
// takes for plain what one of them takes for chunked.
ResponseHead parse_response_head(std::string_view head);

// A field of a head, as programs read it that are lenient; empty of a line that is none.
struct ResponseField {
  std::string_view name, value;
};

// Takes the first line, with its end, from what is left of a head.
std::string_view take_response_line(std::string_view& text);
ResponseField response_field(std::string_view line);

// Where the first head in the text ends; npos when it does not. The first `read` bytes are known
// not to hold its end.
size_t end_of_response_head(std::string_view text, size_t read);

// Whether a line begins with white space, and so goes on with the field above it. Only lines that
// begin behind the first `read` bytes, or with the next one, are looked at.
bool has_folded_line(std::string_view text, size_t read);

}  // namespace sandgate::egress
