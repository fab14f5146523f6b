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
  // Throws Error(invalid) for bad percent escapes or text that is not UTF-8.
  explicit Query(std::string_view encoded);
  void add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  // Throws Error(invalid) with path "?name" when it comes more than once.
  std::optional<std::string> find(std::string_view name) const;
  // "true" or "false", the latter when absent. Throws Error(invalid) with path "?name".
  bool flag(std::string_view name) const;
  // An integer within limits, or the fallback when absent. Throws Error(invalid) with path "?name".
  int64_t integer(std::string_view name, int64_t min, int64_t max, int64_t fallback) const;
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

}  // namespace sandgate::http
