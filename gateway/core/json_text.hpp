#pragma once
#include <string>

#include <nlohmann/json.hpp>

namespace sandgate {

// Formats a document whose strings may come from anywhere: bytes that are not UTF-8 become U+FFFD,
// where dump() would throw.
template <class Document>
std::string json_text(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

}  // namespace sandgate
