#include "gateway/http/headers.hpp"

#include "gateway/core/field_text.hpp"

namespace sandgate::http {

void Headers::set(std::string name, std::string value) {
  std::erase_if(fields_, [&](const auto& field) { return equal_ignoring_case(field.first, name); });
  add(std::move(name), std::move(value));
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : fields_)
    if (equal_ignoring_case(key, name)) return value;
  return std::nullopt;
}

std::optional<std::string> Headers::list(std::string_view name) const {
  std::optional<std::string> joined;
  for (const auto& [key, value] : fields_) {
    if (!equal_ignoring_case(key, name)) continue;
    joined = joined ? *joined + ", " + value : value;
  }
  return joined;
}

}  // namespace sandgate::http
