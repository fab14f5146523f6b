#include "gateway/http/query.hpp"

#include <algorithm>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/percent.hpp"

namespace sandgate::http {
namespace {

// More than any route takes, and few enough for linear search.
constexpr size_t kMaxParameters = 256;

// `path` goes into the error.
std::string decoded(std::string_view encoded, std::string path) {
  auto text = form_decode(encoded);
  if (!text)
    throw Error::invalid(std::move(path), "has a bad percent escape or a NUL, or is not UTF-8");
  return std::move(*text);
}

}  // namespace

Query::Query(std::string_view encoded) {
  while (!encoded.empty()) {
    const size_t end = std::min(encoded.find('&'), encoded.size());
    const std::string_view item = encoded.substr(0, end);
    encoded.remove_prefix(std::min(end + 1, encoded.size()));
    if (item.empty()) continue;
    if (items_.size() == kMaxParameters)
      throw Error(ErrorCode::invalid, "the query has too many parameters");
    const size_t equals = std::min(item.find('='), item.size());
    const std::string_view value = item.substr(std::min(equals + 1, item.size()));
    std::string name = decoded(item.substr(0, equals), "");
    std::string path = "/" + pointer_token(name);
    items_.emplace_back(std::move(name), decoded(value, std::move(path)));
  }
}

std::optional<std::string> Query::find(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : items_) {
    if (key != name) continue;
    if (found) throw Error::invalid("/" + std::string(name), "must not be sent more than once");
    found = value;
  }
  return found;
}

bool Query::flag(std::string_view name) const {
  const auto value = find(name);
  if (!value || *value == "false") return false;
  if (*value == "true") return true;
  throw Error::invalid("/" + std::string(name), "must be true or false");
}

int64_t Query::integer(std::string_view name, int64_t min, int64_t max, int64_t fallback) const {
  const auto text = find(name);
  if (!text) return fallback;
  const auto value = number_from<int64_t>(*text);
  if (!value || *value < min || *value > max)
    throw Error::invalid("/" + std::string(name), "must be an integer from " + std::to_string(min) +
                                                      " to " + std::to_string(max));
  return *value;
}

}  // namespace sandgate::http
