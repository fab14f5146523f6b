#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sandgate::http {

// Header fields in order. Lookup ignores the case of names and returns the first match.
class Headers {
 public:
  void add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
  }
  // Replaces all fields of this name.
  void set(std::string name, std::string value);
  std::optional<std::string_view> find(std::string_view name) const;
  // The value of a field that is a list, which may come on several lines (RFC 9110, 5.3): all of
  // them, joined by commas. Empty if there is none.
  std::optional<std::string> list(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace sandgate::http
