#pragma once
#include <cstdint>

#include "gateway/core/database.hpp"

namespace sandgate {

// The last number of a booking (usage_event.sequence) up to which every transaction that begins
// after this returned sees all of them. Waits for the bookings under way, and holds none off.
// Throws Error(unavailable) when one of them takes too long.
Task<int64_t> booked_through(Database& database);

}  // namespace sandgate
