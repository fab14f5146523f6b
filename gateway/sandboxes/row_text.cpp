#include "gateway/sandboxes/row_text.hpp"

namespace sandgate::sandbox_rows {

std::string array_text(const std::vector<std::string>& items) {
  std::string text = "{";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : item) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

std::string attempts_text(const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts) {
    list.push_back(to_json(attempt));
    list.back()["ordinal"] = list.size();
  }
  return list.dump();
}

}  // namespace sandgate::sandbox_rows
