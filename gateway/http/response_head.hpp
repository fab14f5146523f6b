#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/http/response.hpp"

namespace sandgate::http {

// How the body of an answer is delimited, and whether the connection stays open.
struct Framing {
  std::optional<uint64_t> length;  // Content-Length
  bool chunked = false;
  bool keep_alive = true;
  bool http11 = true;
};

// Appends "Name: value" and the end of the line. Control characters in the value become spaces, so
// that it cannot inject a line.
void append_field(std::string& out, std::string_view name, std::string_view value);

// Appends the status line and header fields, including the empty line.
void append_head(std::string& out, const Response& response, std::string_view request_id,
                 const Framing& framing);

}  // namespace sandgate::http
