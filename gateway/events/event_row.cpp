#include "gateway/events/event_row.hpp"

#include "registry/sql.hpp"

namespace sandgate {

Event event_from(const pqxx::row& row) {
  Event event{.position = row["position"].as<int64_t>(),
              .id = row["id"].as<std::string>(),
              .type = row["type"].as<std::string>(),
              .subject = row["subject"].as<std::string>(),
              .at = time_of(row["at"]),
              .data = json_of(row["data"])};
  if (auto tenant = row["tenant"].as<std::string>(); !tenant.empty())
    event.tenant = TenantId{std::move(tenant)};
  return event;
}

}  // namespace sandgate
