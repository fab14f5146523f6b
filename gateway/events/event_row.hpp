#pragma once
#include <pqxx/pqxx>

#include "gateway/events/event.hpp"

namespace sandgate {

// Of a row with the columns of `event`: position, id, tenant, type, subject, at and data.
Event event_from(const pqxx::row& row);

}  // namespace sandgate
