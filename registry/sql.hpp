#pragma once
#include <optional>
#include <string>

#include <pqxx/pqxx>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

// Conversions between C++ values and SQL parameters or fields. Times travel as RFC 3339 text.
namespace sandgate {

inline std::optional<std::string> to_sql(const std::optional<TenantId>& id) {
  return id ? std::optional(id->value) : std::nullopt;
}
inline std::optional<std::string> to_sql(const std::optional<Time>& time) {
  return optional_rfc3339(time);
}
inline std::optional<std::string> to_sql(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.dump());
}

// A timestamptz column selected as is (the session's time zone is UTC).
Time time_of(const pqxx::field& field);
std::optional<Time> optional_time_of(const pqxx::field& field);
Json json_of(const pqxx::field& field);  // null for NULL
std::optional<TenantId> tenant_of(const pqxx::field& field);

}  // namespace sandgate
