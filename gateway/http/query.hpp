#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sandgate::http {

// Decoded "?a=1&b" parameters, in order.
class Query {
 public:
  Query() = default;
  // Throws Error(invalid) for bad escapes, a NUL, text that is not UTF-8, or over 256 parameters.
  explicit Query(std::string_view encoded);
  void add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  // Throws Error(invalid) with path "/name" if the parameter is repeated.
  std::optional<std::string> find(std::string_view name) const;
  // Accepts "true" and "false"; absent means false. Throws Error(invalid) with path "/name".
  bool flag(std::string_view name) const;
  // Returns an integer within limits, or `fallback` if absent. Throws Error(invalid) with path
  // "/name".
  int64_t integer(std::string_view name, int64_t min, int64_t max, int64_t fallback) const;
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

}  // namespace sandgate::http
