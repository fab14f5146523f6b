#pragma once
#include <pqxx/pqxx>

#include "gateway/events/event.hpp"

namespace sandgate {

// The event of a row with the columns position, id, tenant, type, subject, at and data.
Event event_from(const pqxx::row& row);

}  // namespace sandgate
