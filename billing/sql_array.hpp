#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sandgate {

// A PostgreSQL array literal, built element by element for `unnest($1::text[])`: one statement
// writes any number of rows.
class SqlArray {
 public:
  void add(std::string_view text);
  void add(int64_t number) { append(std::to_string(number)); }
  void add(std::optional<int64_t> number) { append(number ? std::to_string(*number) : "NULL"); }
  void add_null() { append("NULL"); }
  std::string str() const { return text_ + "}"; }

 private:
  void append(std::string_view element);

  std::string text_ = "{";
};

// An array literal of texts.
template <class Texts>
std::string sql_array_of(const Texts& texts) {
  SqlArray array;
  for (const std::string& text : texts) array.add(text);
  return array.str();
}

}  // namespace sandgate
