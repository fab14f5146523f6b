#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/http/response.hpp"

namespace sandgate::http {

// How an answer travels.
struct Framing {
  std::optional<uint64_t> length;  // Content-Length
  bool chunked = false;
  bool keep_alive = true;
  bool http11 = true;
};

// Appends status line and fields up to the empty line. Control characters in values become
// spaces: no value can end its line.
void append_head(std::string& out, const Response& response, std::string_view request_id,
                 const Framing& framing);

}  // namespace sandgate::http
