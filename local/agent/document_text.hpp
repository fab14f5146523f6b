#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace sandgate::agent {

// A document as frames carry it; what is no UTF-8 in it is replaced.
inline std::string to_text(const nlohmann::json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace sandgate::agent
