#include "billing/sql_array.hpp"

namespace sandgate {

void SqlArray::append(std::string_view element) {
  if (text_.size() > 1) text_.push_back(',');
  text_.append(element);
}

void SqlArray::add(std::string_view text) {
  append("\"");
  for (char c : text) {
    if (c == '"' || c == '\\') text_.push_back('\\');
    text_.push_back(c);
  }
  text_.push_back('"');
}

}  // namespace sandgate
