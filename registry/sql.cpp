#include "registry/sql.hpp"

namespace sandgate {

Time time_of(const pqxx::field& field) {
  // PostgreSQL writes the offset of UTC as "+00", RFC 3339 wants minutes too.
  const auto time = from_rfc3339(std::string(field.c_str()) + ":00");
  if (!time) throw Error(ErrorCode::internal, "the database returned an invalid time");
  return *time;
}

std::optional<Time> optional_time_of(const pqxx::field& field) {
  if (field.is_null()) return std::nullopt;
  return time_of(field);
}

Json json_of(const pqxx::field& field) {
  return field.is_null() ? Json() : Json::parse(field.c_str());
}

std::optional<TenantId> tenant_of(const pqxx::field& field) {
  if (field.is_null()) return std::nullopt;
  return TenantId{field.as<std::string>()};
}

}  // namespace sandgate
