#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "local/egress/inflater.hpp"

namespace sandgate::egress {

// How the content of an HTTP/1 answer is coded; `unknown` also when it is coded more than once.
// `head` is whole.
ContentCoding content_coding(std::string_view head);

// What Content-Length says: nothing where there is none.
struct ContentLength {
  std::optional<uint64_t> bytes;
  bool is_wrong = false;  // it is no number, or there are several
};
ContentLength content_length(std::string_view head);

// The head for the same content without a coding, in chunks or until the end of the connection:
// without the fields that describe the coded content.
std::string decoded_head(std::string_view head, bool in_chunks);

}  // namespace sandgate::egress
