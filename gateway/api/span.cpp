#include "gateway/api/span.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::api {

std::optional<Time> time_parameter(const http::Query& query, const std::string& name) {
  const auto text = query.find(name);
  if (!text) return std::nullopt;
  const bool date = text->size() == std::string_view("2026-11-20").size();
  const auto time = from_rfc3339(date ? *text + "T00:00:00Z" : *text);
  if (!time) throw Error::invalid("?" + name, "must be an RFC 3339 time or a date");
  return time;
}

}  // namespace sandgate::api
