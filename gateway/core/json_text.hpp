#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace sandgate {

// Formats a document whose strings may come from anywhere: bytes that are not UTF-8 become U+FFFD,
// where dump() would throw. On one line, or with `indent` spaces a level.
template <class Document>
std::string json_text(const Document& document, int indent = -1) {
  return document.dump(indent, ' ', false, Document::error_handler_t::replace);
}

}  // namespace sandgate
