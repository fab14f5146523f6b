#pragma once
#include <cstdint>

#include "gateway/core/database.hpp"

namespace sandgate {

// Returns a booking number (usage_event.sequence) such that every transaction that begins later
// sees all bookings up to it. Waits for bookings in progress, without holding new ones off. Throws
// Error(unavailable) when one of them takes too long.
Task<int64_t> booking_watermark(Database& database);

}  // namespace sandgate
