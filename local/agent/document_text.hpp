#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace sandgate::agent {

// Serialises a document for a frame; invalid UTF-8 is replaced.
inline std::string to_text(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sandgate::agent
