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

// Appends the status line and header fields, including the empty line. Control characters in values
// become spaces, so that no value can inject a line.
void append_head(std::string& out, const Response& response, std::string_view request_id,
                 const Framing& framing);

}  // namespace sandgate::http
